import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Shows a dialog over the page while it is mounted; the element that opened it has the focus afterwards. `focus` chooses the
 * element with the focus inside; default: the first one.
 */
export function useModal(focus?: (dialog: HTMLDialogElement) => void): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  // The browser returns the focus only when a dialog closes, and dialogs are mostly removed while they are open.
  useLayoutEffect(() => {
    const opener = focused();
    const shown = dialog.current;
    shown?.showModal();
    if (shown !== null) focus?.(shown);
    return () => {
      // Nothing outside of an open dialog can have the focus.
      shown?.close();
      returnFocus(opener);
    };
  }, []);
  return dialog;
}

/** The element with the focus, also in the shadow root of the editor. */
function focused(): Element | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}

/** Without its opener the screen has the focus, so that the next `Tab` continues there. */
function returnFocus(opener: Element | null): void {
  if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus({ preventScroll: true });
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true });
}
