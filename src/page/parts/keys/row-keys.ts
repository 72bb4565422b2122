/** The rows of lists: of workflows and runs, of steps, of a timeline, of a history. */
const ROWS = 'main .row, main .step-rows li, main .timeline tbody tr, main .grid tbody tr';

/** Moves the focus to the link of the next or previous row of a list; `Enter` then follows it. */
export function focusRow(step: 1 | -1): void {
  const links = Array.from(document.querySelectorAll<HTMLElement>(ROWS)).flatMap(
    (row) => row.querySelector<HTMLElement>('a[href]') ?? [],
  );
  const current = links.findIndex((link) => link.closest(ROWS)?.contains(document.activeElement));
  const next = links[current === -1 ? links.findIndex(isVisible) : current + step];
  next?.focus();
  // The sticky bar covers the top of the scrolled area.
  next?.scrollIntoView({ block: 'nearest' });
}

/** The row with the focus. */
export function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>(ROWS) ?? null;
}

function isVisible(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}
