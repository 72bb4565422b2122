/**
 * Keeps the focus near an element that is removed or disabled while it has it: gives it to the nearest element around.
 * Without this the document has the focus, and a screen reader starts again at the top of the page.
 */
export function keepFocus(): void {
  let last: Element | null = null;
  let around: readonly HTMLElement[] = [];
  document.addEventListener('focusin', ({ target }) => {
    last = target instanceof Element ? target : null;
    around = last === null ? [] : elementsAround(last);
  });
  // A click beside all controls takes the focus from them.
  document.addEventListener('pointerdown', () => {
    last = null;
  });
  const follow = () => {
    if (last === null || (last.isConnected && !last.matches(':disabled'))) return;
    const { activeElement } = document;
    const isLost = activeElement === document.body || activeElement === last;
    last = null;
    if (isLost) focusOn(around.find((each) => each.isConnected));
  };
  new MutationObserver(follow).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
}

/** The elements around one, from the inside, up to the screen or a dialog. */
function elementsAround(element: Element): readonly HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let each = element.parentElement; each !== null && each !== document.body; each = each.parentElement) {
    if (each instanceof HTMLElement) found.push(each);
  }
  return found;
}

/** Gives the focus to an element that may not be a control. */
function focusOn(element: HTMLElement | undefined): void {
  if (element === undefined) return;
  if (!element.hasAttribute('tabindex')) {
    element.tabIndex = -1;
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  }
  element.focus({ preventScroll: true });
}
