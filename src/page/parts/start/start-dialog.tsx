import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import { useResource } from '../../data/resource.ts';
import { readWorkflow } from '../../data/workflows/all-workflows.ts';
import { Button } from '../controls.tsx';
import { useModal } from '../dialog.tsx';
import { LoadingOrProblem } from '../problem-box.tsx';
import { StartForm } from './start-form.tsx';

/** The start form of a workflow, as a dialog over the list. */
export function StartDialog({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const dialog = useModal({ onClose });
  const { route } = useLocation();
  const { value, problem } = useResource(() => readWorkflow(id), [id]);
  // The form replaces placeholders, which cannot have the focus.
  useEffect(() => {
    dialog.current?.querySelector<HTMLElement>('form :is(textarea, input, select, [type="submit"]):enabled')?.focus();
  }, [value !== null]);
  return (
    <dialog ref={dialog} class="form-dialog" aria-labelledby="start-title">
      <div class="dialog-head">
        <h2 id="start-title">
          Start <bdi>{name}</bdi>
        </h2>
        <Button class="plain" text="×" aria-label="Close" onClick={() => dialog.current?.close()} />
      </div>
      {value === null ? (
        <LoadingOrProblem problem={problem} />
      ) : (
        <StartForm workflow={value} query={{}} onStarted={(runId) => route(pathOf(to.run(runId)))} />
      )}
    </dialog>
  );
}
