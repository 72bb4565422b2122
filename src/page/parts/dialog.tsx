import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isOffline } from '../data/connection.ts';
import type { ControlRequest } from '../data/resource.ts';
import { Button } from './controls.tsx';
import { focusScreen } from './screen.tsx';

type Modal = { onClose: () => void; focus?: (dialog: HTMLDialogElement) => void };

/** Shows a dialog over the page, with the focus as `focus` chooses; afterwards the element that opened it has the focus. */
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

type ConfirmProps = {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
};

/** Asks for a confirmation of an action that cannot be undone. */
export function ConfirmDialog({ title, children, action, onConfirm, onCancel }: ConfirmProps) {
  const dialog = useModal({ onClose: onCancel });
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title">
      <h2 id="dialog-title">{title}</h2>
      <div class="dialog-body">{children}</div>
      <div class="dialog-buttons">
        <Button text="Cancel" onClick={onCancel} />
        <Button class="danger" text={action} onClick={onConfirm} />
      </div>
    </dialog>
  );
}

type FormDialogProps = {
  readonly title: string;
  readonly action: string;
  /** The button that closes it; default: Cancel. */
  readonly cancel?: string;
  readonly isReady: boolean;
  readonly request: ControlRequest;
  /** What the request does; the dialog stays open if it fails. */
  readonly submit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** A form in a dialog. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, cancel = 'Cancel', isReady, request, submit, onClose, children } = props;
  const dialog = useModal({ onClose, focus: (shown) => shown.querySelector('input')?.select() });
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (isReady) void request.send(submit);
  };
  const isOff = !isReady || request.isPending.value || isOffline.value;
  return (
    <dialog ref={dialog} class="form-dialog" aria-labelledby="form-title">
      <form onSubmit={onSubmit}>
        <h2 id="form-title">{title}</h2>
        <div class="dialog-body">{children}</div>
        <div class="dialog-buttons">
          <Button text={cancel} onClick={() => dialog.current?.close()} />
          <Button type="submit" class="main" text={action} disabled={isOff} />
        </div>
      </form>
    </dialog>
  );
}
