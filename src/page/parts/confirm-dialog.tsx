import type { ComponentChildren, JSX } from 'preact';
import { Button } from './button.tsx';
import { useModal } from './use-modal.ts';

type ConfirmProps = {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
};

/** Asks for a confirmation of an action that cannot be undone. */
export function ConfirmDialog({ title, children, action, onConfirm, onCancel }: ConfirmProps): JSX.Element {
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
