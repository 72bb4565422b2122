import { useSignal } from '@preact/signals';
import { shortId } from '#render/text.ts';
import type { RunHead } from '#run-view/api/types.ts';
import { counted } from '#run-view/texts.ts';
import { to } from '../../api/address.ts';
import { ApiProblem, api, ask } from '../../api/client.ts';
import { isOffline } from '../../data/connection.ts';
import { isReadOnly } from '../../data/login-session.ts';
import { type ControlRequest, useRequest } from '../../data/resource.ts';
import { openAnswer, useRetry } from '../../data/run-requests.ts';
import type { ShownRun } from '../../data/shown-run.ts';
import { isActive } from '../../data/workflows/workflow-filter.ts';
import { Button } from '../../parts/controls.tsx';
import { ActionProblem } from '../../parts/problem-box.tsx';
import { onDemand } from '../../parts/screen.tsx';
import { AnswerButtons } from './answer-buttons.tsx';
import { hrefOfStep } from './run-address.ts';

const RunMenu = onDemand(() => import('./run-menus.tsx').then((part) => part.RunMenu));

/** The actions on a run: stop it while it is active, retry it afterwards. */
export function RunActions({ run, head, chosen }: { run: ShownRun; head: RunHead; chosen: string | null }) {
  const request = useRequest();
  if (isReadOnly.value) return <span class="quiet">read-only</span>;
  return (
    <>
      {isActive(head.status) ? (
        <>
          <ApprovalLink head={head} />
          {openAnswer.value !== null && (
            <div class="answer-buttons">
              <AnswerButtons isPending={openAnswer.value === 'sending'} />
            </div>
          )}
          <SubRunLink run={run} />
          <StopButton run={run} head={head} problem={request.problem} />
        </>
      ) : (
        <>
          <RetryButtons head={head} chosen={chosen} request={request} />
          <RunMenu head={head} />
        </>
      )}
      <ActionProblem problem={request.problem.value} />
    </>
  );
}

/** Links to the first step that waits for approval. */
function ApprovalLink({ head: { waitingFor = [] } }: { head: RunHead }) {
  const [first] = waitingFor;
  if (first === undefined) return null;
  return (
    <a class="button" data-key="a" href={hrefOfStep(first)} onClick={showStep}>
      {waitingFor.length === 1 ? `Answer ${shortName(first)}` : `Answer ${waitingFor.length} approvals`}
    </a>
  );
}

/** Links to the sub-run that waits for approval, or to all of them. */
function SubRunLink({ run }: { run: ShownRun }) {
  const [first, ...others] = run.waitingSubRuns.value;
  if (first === undefined) return null;
  if (others.length > 0)
    return <a class="button" href={to.runsAwaitingApproval}>{`Answer ${others.length + 1} sub-runs`}</a>;
  const title = `${first.step === null ? 'A sub-run' : `The run of ${first.step}`} waits for approval`;
  return (
    <a class="button" href={to.run(first.run.runId)} title={title}>
      Answer {shortName(first.run.waitingFor?.[0] ?? '')} in {shortName(first.run.workflow)}
    </a>
  );
}

/** On a narrow screen the step is below the visible area. */
function showStep(): void {
  document.querySelector('.step-pane')?.scrollIntoView({ block: 'nearest' });
}

function shortName(name: string): string {
  return name.length > 24 ? `${name.slice(0, 24)}…` : name;
}

function RetryButtons({ head, chosen, request }: { head: RunHead; chosen: string | null; request: ControlRequest }) {
  const retry = useRetry(head.runId, request);
  const isPending = request.isPending.value;
  const isOff = isPending || isOffline.value;
  return (
    <>
      {chosen !== null && !chosen.startsWith('handlerOn.') && (
        <Button text={`Retry from ${shortName(chosen)}`} disabled={isOff} onClick={() => retry({ from: chosen })} />
      )}
      {head.status !== 'succeeded' && (
        <Button
          class="main"
          text={isPending ? 'Starting' : 'Retry what failed'}
          data-key="r"
          disabled={isOff}
          onClick={() => retry({})}
        />
      )}
    </>
  );
}

const ConfirmDialog = onDemand(() => import('../../parts/dialog.tsx').then((part) => part.ConfirmDialog));

/** A stop gives running steps their grace period, which a kill ends. */
type Stop = 'stop' | 'kill';

/** Stops a run, and kills it while it is stopping; asks before either. */
function StopButton({ run, head, problem }: { run: ShownRun; head: RunHead; problem: ControlRequest['problem'] }) {
  const asked = useSignal<Stop | null>(null);
  const sent = useSignal<Stop | null>(null);
  const running = runningSteps(run);
  // Handlers run on after a stop: only a kill ends one that hangs.
  const isStopping = head.status === 'canceling' || (head.status === 'handling' && sent.value !== null);
  const next: Stop = isStopping && running.length > 0 ? 'kill' : 'stop';
  const isPending = sent.value === next || (isStopping && next === 'stop');
  const confirm = async (stop: Stop) => {
    asked.value = null;
    sent.value = stop;
    problem.value = null;
    try {
      const params = { path: { id: head.runId } };
      await ask(api.POST('/api/v2/runs/{id}/stop', { params, body: { force: stop === 'kill' } }));
    } catch (error) {
      problem.value = ApiProblem.of(error);
      sent.value = null;
    }
  };
  return (
    <>
      <Button
        class="danger"
        text={isPending ? words[next].pending : words[next].button}
        data-key="."
        // Not disabled, which would take the focus away.
        aria-disabled={isPending}
        disabled={isOffline.value}
        onClick={() => (asked.value = isPending ? null : next)}
      />
      {asked.value !== null && (
        <StopQuestion
          stop={asked.value}
          head={head}
          running={running}
          onConfirm={confirm}
          onCancel={() => (asked.value = null)}
        />
      )}
    </>
  );
}

const words = {
  stop: { button: 'Stop', pending: 'Stopping' },
  kill: { button: 'Kill', pending: 'Killing' },
} as const satisfies Record<Stop, object>;

type QuestionProps = {
  readonly stop: Stop;
  readonly head: RunHead;
  readonly running: readonly string[];
  readonly onConfirm: (stop: Stop) => void;
  readonly onCancel: () => void;
};

function StopQuestion({ stop, head, running, onConfirm, onCancel }: QuestionProps) {
  const { button } = words[stop];
  const { length } = running;
  const active = `${counted(length, 'step')} ${length === 1 ? 'is' : 'are'} running.`;
  return (
    <ConfirmDialog
      title={`${button} ${head.workflow} ${shortId(head.runId)}?`}
      action={`${button} the run`}
      onConfirm={() => onConfirm(stop)}
      onCancel={onCancel}
    >
      <p>
        {stop === 'stop'
          ? `${length === 0 ? 'No step is running.' : active} No further step starts; handlers still run.`
          : `${stillRunning(running)} Running steps are killed at once, and no further handler runs.`}
      </p>
    </ConfirmDialog>
  );
}

/** The number of steps that a question names. */
const MAX_NAMES = 5;

/** They may have ended since the question was asked. */
function stillRunning(names: readonly string[]): string {
  if (names.length === 0) return 'No step is running any more.';
  const others = names.length - MAX_NAMES;
  const shown = [...names.slice(0, MAX_NAMES), ...(others > 0 ? [`${others} more`] : [])];
  const last = shown.pop() ?? '';
  return `${shown.length === 0 ? `${last} is` : `${shown.join(', ')} and ${last} are`} still running.`;
}

function runningSteps(run: ShownRun): readonly string[] {
  const names = [...(run.view.value?.steps ?? []).map(({ name }) => name), ...run.handlers.value];
  return names.filter((name) => run.step(name).value?.status === 'running');
}
