import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { WorkflowDetail } from '#run-view/api/types.ts';
import { counted } from '#run-view/texts.ts';
import { pathOf, to } from '../api/address.ts';
import { isUtc } from '../data/page-settings.ts';
import { type Resource, useRequest } from '../data/resource.ts';
import { suspendSchedule } from '../data/workflows/all-workflows.ts';
import { createWorkflow, deleteWorkflow, readText, renameWorkflow } from '../data/workflows/file-requests.ts';
import { Button } from '../parts/controls.tsx';
import { ConfirmDialog, FormDialog } from '../parts/dialog.tsx';
import { type FileName, NameDialog } from '../parts/name-dialog.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { momentText, now, relativeText } from '../parts/time.tsx';
import { BackfillDialog } from './backfill-dialog.tsx';

/** A workflow, and what ends its dialog. */
export type ChangeProps = {
  readonly workflow: WorkflowDetail;
  /** Does work after which the workflow no longer has this name. */
  readonly removeBy: Resource<unknown>['removeBy'];
  readonly onClose: () => void;
};

/** The dialog for a change of a workflow file. */
export function WorkflowChanges({ change, ...props }: ChangeProps & { change: WorkflowChange }) {
  const Dialog = dialogs[change];
  return <Dialog {...props} />;
}

const dialogs = { backfill: BackfillDialog, suspend: SuspendDialog, rename: Rename, copy: Copy, delete: Delete };

/** The entries of the menu of a workflow. */
export type WorkflowChange = keyof typeof dialogs;

function Rename({ workflow, removeBy, onClose }: ChangeProps) {
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

function Copy({ workflow, onClose }: ChangeProps) {
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
            onChange={(event) => (isSuspended.value = event.currentTarget.checked)}
          />
          Suspend the schedule of the copy
        </label>
      )}
    </NameDialog>
  );
}

function Delete({ workflow, removeBy, onClose }: ChangeProps) {
  const { route } = useLocation();
  const { problem, send } = useRequest();
  const { active, file, name } = workflow;
  const remove = async () => {
    if (!(await send(() => removeBy(() => deleteWorkflow(workflow.id))))) return;
    onClose();
    route(pathOf(to.workflows));
  };
  return (
    <ConfirmDialog title={`Delete ${name}?`} action="Delete the file" onConfirm={remove} onCancel={onClose}>
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

const HOUR_MS = 3_600_000;
const spans = [
  ['1 hour', HOUR_MS],
  ['8 hours', 8 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 7 * 24 * HOUR_MS],
] as const;

/** Suspends a schedule until a time. */
function SuspendDialog({ workflow, onClose }: ChangeProps) {
  const until = useSignal(fieldText(now.value + 24 * HOUR_MS));
  const request = useRequest();
  const end = timeOf(until.value);
  const submit = async () => {
    await suspendSchedule(workflow.id, { suspended: true, until: new Date(end ?? 0).toISOString() });
    onClose();
  };
  return (
    <FormDialog
      title={`Suspend the schedule of ${workflow.name}`}
      action="Suspend"
      isReady={end !== null}
      request={request}
      submit={submit}
      onClose={onClose}
    >
      <p class="chips">
        {spans.map(([text, ms]) => (
          <Button key={text} class="chip" text={text} onClick={() => (until.value = fieldText(Date.now() + ms))} />
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
          onInput={(event) => (until.value = event.currentTarget.value)}
        />
        <p id="suspend-note" class="field-note">
          {end === null ? 'The time is not complete' : `${relativeText(now.value - end)}. `}
          Starts that are due before then are skipped. You can still start the workflow by hand.
        </p>
      </div>
      {request.problem.value !== null && <ProblemBox problem={request.problem.value} />}
    </FormDialog>
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
