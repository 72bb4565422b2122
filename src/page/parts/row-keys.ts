/** Moves the focus to the link of the next row of a list, or of the one before; `Enter` then follows it. */
export function focusRow(step: 1 | -1): void {
  const links = Array.from(document.querySelectorAll<HTMLElement>('main [data-row] a, main a[data-row]'));
  const rows = links.filter((link, index) => rowOf(link) !== rowOf(links[index - 1]));
  const current = rows.findIndex((link) => rowOf(link) === rowOf(document.activeElement));
  const next = current === -1 ? rows.findIndex(isVisible) : current + step;
  rows[next]?.focus();
  // The bar above the page covers what is scrolled below it.
  rows[next]?.scrollIntoView({ block: 'nearest' });
}

/** The row that an element is in. */
export function rowOf(element: Element | null | undefined): HTMLElement | null {
  return element?.closest<HTMLElement>('[data-row]') ?? null;
}

function isVisible(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}
