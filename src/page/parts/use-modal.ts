import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { focusScreen } from './screen.tsx';

/** What a dialog does. */
type Modal = {
  /** Called when the user closes the dialog. */
  readonly onClose: () => void;
  /** Chooses the element with the focus inside; default: the first one. */
  readonly focus?: (dialog: HTMLDialogElement) => void;
};

/** Shows a dialog over the page while it is mounted; the element that opened it has the focus afterwards. */
export function useModal({ onClose, focus }: Modal): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  const latest = useRef(onClose);
  latest.current = onClose;
  // The browser returns the focus only when a dialog closes, and dialogs are mostly removed while they are open.
  useLayoutEffect(() => {
    const opener = focused();
    const shown = dialog.current;
    const close = () => latest.current();
    shown?.showModal();
    // A browser reports `close` later than `cancel`: a key that opens the dialog again may come between them.
    for (const type of ['cancel', 'close']) shown?.addEventListener(type, close);
    if (shown !== null) focus?.(shown);
    return () => {
      for (const type of ['cancel', 'close']) shown?.removeEventListener(type, close);
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

/** Without its opener the screen has the focus. */
function returnFocus(opener: Element | null): void {
  if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus({ preventScroll: true });
  focusScreen();
}
