import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ErrorBoundary, lazy } from 'preact-iso';
import { shortId } from '#render/text/short-id.ts';
import type { RunHead } from '#run-view/api/types.ts';
import { counted } from '#run-view/step-text.ts';
import { ApiProblem } from '../../api/problem.ts';
import { isOffline } from '../../data/connection.ts';
import type { ShownRun } from '../../data/run.ts';
import { stopRun } from '../../data/run-actions.ts';

const ConfirmDialog = lazy(() => import('../../parts/confirm-dialog.tsx').then((part) => part.ConfirmDialog));

type StopProps = {
  readonly run: ShownRun;
  readonly head: RunHead;
  readonly problem: Signal<ApiProblem | null>;
};

/** A stop gives running steps their grace period, which a kill ends. */
type Stop = 'stop' | 'kill';

/** Stops a run, and kills it while it is stopping; asks before either. */
export function StopButton({ run, head, problem }: StopProps): JSX.Element {
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
      await stopRun(head.runId, stop === 'kill');
    } catch (error) {
      problem.value = ApiProblem.of(error);
      sent.value = null;
    }
  };
  return (
    <>
      <button
        type="button"
        class="danger"
        data-key="."
        // Not disabled, which would take the focus away.
        aria-disabled={isPending}
        disabled={isOffline.value}
        onClick={() => {
          asked.value = isPending ? null : next;
        }}
      >
        {isPending ? words[next].pending : words[next].button}
      </button>
      {asked.value !== null && (
        <ErrorBoundary>
          <StopQuestion
            stop={asked.value}
            head={head}
            running={running}
            onConfirm={(stop) => void confirm(stop)}
            onCancel={() => {
              asked.value = null;
            }}
          />
        </ErrorBoundary>
      )}
    </>
  );
}

const words = {
  stop: { button: 'Stop', pending: 'Stopping' },
  kill: { button: 'Kill', pending: 'Killing' },
} as const satisfies Record<Stop, object>;

type QuestionProps = Pick<StopProps, 'head'> & {
  readonly stop: Stop;
  readonly running: readonly string[];
  readonly onConfirm: (stop: Stop) => void;
  readonly onCancel: () => void;
};

function StopQuestion({ stop, head, running, onConfirm, onCancel }: QuestionProps): JSX.Element {
  const { button } = words[stop];
  return (
    <ConfirmDialog
      title={`${button} ${head.workflow} ${shortId(head.runId)}?`}
      action={`${button} the run`}
      onConfirm={() => onConfirm(stop)}
      onCancel={onCancel}
    >
      <p>
        {stop === 'stop'
          ? `${stateOf(running)} No further step starts; handlers still run.`
          : `${stillRunning(running)} Running steps are killed at once, and no further handler runs.`}
      </p>
    </ConfirmDialog>
  );
}

function stateOf({ length }: readonly string[]): string {
  return length === 0 ? 'No step is running.' : `${counted(length, 'step')} ${length === 1 ? 'is' : 'are'} running.`;
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

/** The steps and handlers that are running. */
function runningSteps(run: ShownRun): readonly string[] {
  const names = [...(run.view.value?.steps ?? []).map(({ name }) => name), ...run.handlers.value];
  return names.filter((name) => run.step(name).value?.status === 'running');
}
