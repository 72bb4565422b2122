import type { ComponentChildren, JSX } from 'preact';
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
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={onConfirm}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
