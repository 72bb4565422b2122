import type { ComponentChildren, JSX } from 'preact';
import { isOffline } from '../data/connection.ts';
import { Button } from './button.tsx';
import { useModal } from './use-modal.ts';
import type { ControlRequest } from './use-request.tsx';

type FormDialogProps = {
  readonly title: string;
  readonly action: string;
  /** Whether the fields are filled. */
  readonly isReady: boolean;
  readonly request: ControlRequest;
  /** What the request does; the dialog stays open if it fails. */
  readonly submit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** A form in a dialog. */
export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, action, isReady, request, submit, onClose, children } = props;
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
          <Button text="Cancel" onClick={() => dialog.current?.close()} />
          <Button type="submit" class="main" text={action} disabled={isOff} />
        </div>
      </form>
    </dialog>
  );
}
