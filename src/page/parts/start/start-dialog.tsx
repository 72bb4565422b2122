import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import { api, ask } from '../../api/client.ts';
import { createResource } from '../../data/resource.ts';
import { ProblemBox } from '../problem-box.tsx';
import { Loading } from '../screen.tsx';
import { useModal } from '../use-modal.ts';
import { StartForm } from './start-form.tsx';

/** The start form of a workflow, as a dialog over the list. */
export function StartDialog({ id, name, onClose }: { id: string; name: string; onClose: () => void }): JSX.Element {
  const dialog = useModal({ onClose });
  const { route } = useLocation();
  const workflow = useMemo(
    () => createResource(() => ask(api.GET('/api/v2/workflows/{name}', { params: { path: { name: id } } }))),
    [id],
  );
  useEffect(() => void workflow.refresh(), [workflow]);
  const { value, problem } = workflow.known.value;
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
        <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
          ×
        </button>
      </div>
      {value !== null && <StartForm workflow={value} query={{}} onStarted={(runId) => route(pathOf(to.run(runId)))} />}
      {value === null && (problem === null ? <Loading /> : <ProblemBox problem={problem} />)}
    </dialog>
  );
}
