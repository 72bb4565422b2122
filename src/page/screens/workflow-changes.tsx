import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso';
import type { WorkflowDetail } from '#run-view/api/types.ts';
import { counted } from '#run-view/step-text.ts';
import { pathOf, to } from '../api/address.ts';
import { ApiProblem } from '../api/problem.ts';
import type { Resource } from '../data/resource.ts';
import { createWorkflow, deleteWorkflow, readText, renameWorkflow } from '../data/workflows/workflow-files.ts';
import { suspendSchedule } from '../data/workflows/workflows.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { type FileName, NameDialog } from '../parts/name-dialog.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { SuspendDialog } from '../parts/workflow/suspend-dialog.tsx';

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
