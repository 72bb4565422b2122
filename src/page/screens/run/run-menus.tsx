import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { shortId } from '#render/text.ts';
import type { RunHead, StepView } from '#run-view/api/types.ts';
import { pathOf, to } from '../../api/address.ts';
import { api, ask } from '../../api/client.ts';
import { isOffline } from '../../data/connection.ts';
import { isReadOnly } from '../../data/login-session.ts';
import { useRequest } from '../../data/resource.ts';
import { useRetry } from '../../data/run-requests.ts';
import type { ShownRun } from '../../data/shown-run.ts';
import { isActive } from '../../data/workflows/workflow-filter.ts';
import { Menu } from '../../parts/controls.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ActionProblem } from '../../parts/problem-box.tsx';

/** The rarely used actions on a run. */
export function RunMenu({ head }: { head: RunHead }) {
  const { route } = useLocation();
  const isAsking = useSignal(false);
  if (isReadOnly.value || isActive(head.status)) return null;
  const remove = async () => {
    await ask(api.DELETE('/api/v2/runs/{id}', { params: { path: { id: head.runId } } }));
    route(pathOf(to.runs));
  };
  return (
    <>
      <Menu
        label="More actions of the run"
        items={[{ text: 'Delete the run', act: () => (isAsking.value = true), isDisabled: isOffline.value }]}
      />
      {isAsking.value && (
        <Question
          title={`Delete ${head.workflow} ${shortId(head.runId)}?`}
          action="Delete the run"
          about="Its logs are deleted too."
          act={remove}
          onClose={() => (isAsking.value = false)}
        />
      )}
    </>
  );
}

/** The statuses that a user can give to a step. */
const marks = ['succeeded', 'failed'] as const;

type StepMenuProps = { run: ShownRun; head: RunHead; step: Pick<StepView, 'name' | 'status'> };

/** The actions on a step of a finished run, or an instance of a fan-out: retry it, and set its status. */
export function StepMenu({ run, head, step }: StepMenuProps) {
  const asked = useSignal<(typeof marks)[number] | null>(null);
  const request = useRequest();
  const retry = useRetry(head.runId, request);
  if (isReadOnly.value || isActive(head.status) || step.name.startsWith('handlerOn.')) return null;
  const statuses = marks.filter((status) => status !== step.status);
  const isOff = request.isPending.value || isOffline.value;
  const mark = async () => {
    if (asked.value === null) return;
    const params = { path: { id: head.runId, step: step.name } };
    await ask(api.POST('/api/v2/runs/{id}/steps/{step}/mark', { params, body: { status: asked.value } }));
    await run.reload();
  };
  return (
    <>
      <Menu
        label="More actions of the step"
        items={[
          { text: `Retry ${step.name} alone`, act: () => retry({ step: step.name }), isDisabled: isOff },
          { text: `Retry from ${step.name}`, act: () => retry({ from: step.name }), isDisabled: isOff },
          ...statuses.map((status) => ({
            text: `Mark ${step.name} as ${status}`,
            act: () => (asked.value = status),
            isDisabled: isOffline.value,
          })),
        ]}
      />
      <ActionProblem problem={request.problem.value} />
      {asked.value !== null && (
        <Question
          title={`Mark ${step.name} as ${asked.value}?`}
          action={`Mark as ${asked.value}`}
          about="No step runs again. The status applies to the run and to later retries."
          act={mark}
          onClose={() => (asked.value = null)}
        />
      )}
    </>
  );
}

type QuestionProps = { title: string; action: string; about: string; act: () => Promise<void>; onClose: () => void };

/** Asks for a confirmation of an action, and shows the reason if it fails. */
function Question({ title, action, about, act, onClose }: QuestionProps) {
  const { problem, send } = useRequest();
  const confirm = async () => {
    if (await send(act)) onClose();
  };
  return (
    <ConfirmDialog title={title} action={action} onConfirm={confirm} onCancel={onClose}>
      <p>{about}</p>
      <ActionProblem problem={problem.value} />
    </ConfirmDialog>
  );
}
