import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso';
import type { Workflow, WorkflowDetail } from '#run-view/api/types.ts';
import { counted } from '#run-view/texts.ts';
import { pathOf, to } from '../api/address.ts';
import { ApiProblem } from '../api/client.ts';
import { isOffline } from '../data/connection.ts';
import { isUtc } from '../data/page-settings.ts';
import type { Resource } from '../data/resource.ts';
import { suspendSchedule } from '../data/workflows/all-workflows.ts';
import { createWorkflow, deleteWorkflow, readText, renameWorkflow } from '../data/workflows/file-requests.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { type FileName, NameDialog } from '../parts/name-dialog.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { momentText, now, relativeText } from '../parts/time.tsx';
import { useModal } from '../parts/use-modal.ts';

/** The entries of the menu of a workflow. */
export type WorkflowChange = 'suspend' | 'rename' | 'copy' | 'delete';

export type ChangeProps = {
  readonly workflow: WorkflowDetail;
  /** Does work after which the workflow no longer has this name. */
  readonly removeBy: Resource<unknown>['removeBy'];
  readonly onClose: () => void;
};

/** The dialog for a change of a workflow file. */
export function WorkflowChanges({ change, ...props }: ChangeProps & { change: WorkflowChange }): JSX.Element {
  switch (change) {
    case 'suspend':
      return <SuspendDialog {...props} />;
    case 'rename':
      return <Rename {...props} />;
    case 'copy':
      return <Copy {...props} />;
    case 'delete':
      return <Delete {...props} />;
  }
}

function Rename({ workflow, removeBy, onClose }: ChangeProps): JSX.Element {
  const { route } = useLocation();
  const rename = ({ name, group }: FileName) =>
    removeBy(async () => {
      const id = await renameWorkflow(workflow.id, { to: name, group });
      route(pathOf(to.workflow(id)));
      onClose();
    });
  return (
    <NameDialog
      title={`Rename or move ${workflow.name}`}
      action="Rename"
      given={nameOf(workflow)}
      onSubmit={rename}
      onClose={onClose}
    >
      <p class="field-note quiet">
        Past runs keep the old name. Workflows and scripts that start it by this name must be changed, too.
      </p>
    </NameDialog>
  );
}

function Copy({ workflow, onClose }: ChangeProps): JSX.Element {
  const { route } = useLocation();
  const { name, group } = nameOf(workflow);
  const hasSchedule = workflow.schedule.start.length > 0;
  const isSuspended = useSignal(hasSchedule);
  const copy = async (copied: FileName) => {
    const { text } = await readText(workflow.id);
    const id = await createWorkflow(copied.name, copied.group, text);
    if (isSuspended.value) await suspendSchedule(id, { suspended: true });
    route(pathOf(to.edit(id)));
    onClose();
  };
  return (
    <NameDialog
      title={`Copy ${workflow.name}`}
      action="Copy"
      given={{ name: `${name}-copy`, group }}
      onSubmit={copy}
      onClose={onClose}
    >
      {hasSchedule && (
        <label class="field check">
          <input
            type="checkbox"
            checked={isSuspended.value}
            onChange={(event) => {
              isSuspended.value = event.currentTarget.checked;
            }}
          />
          Suspend the schedule of the copy
        </label>
      )}
    </NameDialog>
  );
}

function Delete({ workflow, removeBy, onClose }: ChangeProps): JSX.Element {
  const { route } = useLocation();
  const problem = useSignal<ApiProblem | null>(null);
  const { active, file, name } = workflow;
  const remove = async () => {
    try {
      await removeBy(() => deleteWorkflow(workflow.id));
      onClose();
      route(pathOf(to.workflows));
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
  };
  return (
    <ConfirmDialog
      title={`Delete ${name}?`}
      action="Delete the file"
      onConfirm={() => void remove()}
      onCancel={onClose}
    >
      <p>
        The file <code>{file}</code> is deleted. Its past runs stay, with their logs.
      </p>
      {active.length > 0 && (
        <p>
          {counted(active.length, 'run')} {active.length === 1 ? 'is' : 'are'} running and will continue.
        </p>
      )}
      {workflow.schedule.start.length > 0 && <p>Its schedule ends.</p>}
      {problem.value !== null && <ProblemBox problem={problem.value} />}
    </ConfirmDialog>
  );
}

/** The name of a file without its extension. */
function nameOf({ file, group }: WorkflowDetail): FileName {
  return { name: file.slice(file.lastIndexOf('/') + 1).replace(/[.]ya?ml$/, ''), group };
}

const hourMs = 3_600_000;
const spans = [
  ['1 hour', hourMs],
  ['8 hours', 8 * hourMs],
  ['1 day', 24 * hourMs],
  ['1 week', 7 * 24 * hourMs],
] as const;

/** Suspends a schedule until a time. */
function SuspendDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }): JSX.Element {
  const dialog = useModal({ onClose });
  const until = useSignal(fieldText(now.value + 24 * hourMs));
  const problem = useSignal<ApiProblem | null>(null);
  const isPending = useSignal(false);
  const end = timeOf(until.value);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isPending.value || end === null) return;
    isPending.value = true;
    problem.value = null;
    try {
      await suspendSchedule(workflow.id, { suspended: true, until: new Date(end).toISOString() });
      onClose();
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
    isPending.value = false;
  };
  return (
    <dialog ref={dialog} class="form-dialog" aria-labelledby="suspend-title">
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="suspend-title">Suspend the schedule of {workflow.name}</h2>
        <div class="dialog-body">
          <p class="chips">
            {spans.map(([text, ms]) => (
              <button
                key={text}
                type="button"
                class="chip"
                onClick={() => {
                  until.value = fieldText(Date.now() + ms);
                }}
              >
                {text}
              </button>
            ))}
          </p>
          <div class="field">
            <label for="suspend-until">Until{isUtc.value && ' (UTC)'}</label>
            <input
              id="suspend-until"
              type="datetime-local"
              required
              aria-describedby="suspend-note"
              value={until.value}
              onInput={(event) => {
                until.value = event.currentTarget.value;
              }}
            />
            <p id="suspend-note" class="field-note">
              {end === null ? 'The time is not complete' : `${relativeText(now.value - end)}. `}
              Starts that are due before then are skipped. You can still start the workflow by hand.
            </p>
          </div>
          {problem.value !== null && <ProblemBox problem={problem.value} />}
        </div>
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={isPending.value || isOffline.value || end === null}>
            Suspend
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A timestamp as the value of a field, in the selected time zone: `2026-03-01T10:31`. */
function fieldText(at: number): string {
  return momentText(new Date(at)).slice(0, 16).replace(' ', 'T');
}

function timeOf(text: string): number | null {
  const at = Date.parse(isUtc.value ? `${text}Z` : text);
  return Number.isNaN(at) ? null : at;
}
