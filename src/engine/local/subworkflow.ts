import type { StoredEvent } from '#core/run/run.ts';
import { isHeld } from '#core/run/run-state.ts';
import type { Secrets } from '#core/secrets/secrets.ts';
import { handlerKind } from '#core/workflow.ts';
import type { Attempt, SubworkflowRequest, SubworkflowResult } from '#executors/executor.ts';
import type { AttemptSignals } from '#processes/end-signal.ts';
import { WfError } from '#system/errors.ts';
import type { QueueSlot, RunLocks } from '../attempt/run-locks.ts';
import { childLine, childRequest, childResult, queuesOf, refuseCircle } from '../driver/child-run.ts';
import type { ActiveRun, ChildRetryRequest, FailedChild, RetryChild, RunHost, RunRequest } from '../engine.ts';
import type { LocalEngineOptions } from './engine-options.ts';

/** What starts a child run. */
type ChildOptions = Pick<LocalEngineOptions, 'findSubworkflow' | 'retryChild' | 'newRunId' | 'onChild'> & {
  readonly host: Pick<RunHost, 'start'>;
  readonly family: Secrets;
  readonly keepFailed: (step: string, child: FailedChild) => void;
  /** Waits for a slot in the queue of the child run; null if the attempt was stopped. */
  readonly enterQueue: RunLocks['enterQueue'];
  /** The locks within which the child run of a step runs. */
  readonly locksAround: RunLocks['around'];
};

/** What a child run needs of the attempt that asks for it, which may be made in another process. */
type AskingAttempt = Pick<
  Attempt,
  'runId' | 'step' | 'number' | 'expand' | 'holdsSecret' | 'started' | keyof AttemptSignals
> & {
  readonly write: (stream: 'stderr', text: string) => void;
};

/** Runs another workflow for a step, as a run of its own that stops with the step. */
export async function runSubworkflow(
  options: ChildOptions,
  parent: RunRequest,
  asked: SubworkflowRequest,
  attempt: AskingAttempt,
): Promise<SubworkflowResult> {
  const { number, step } = attempt;
  let isStarted = false;
  let slot: QueueSlot | null = null;
  try {
    const expand = (text: string) => attempt.expand(text);
    const run = expand(asked.run);
    const found = await options.findSubworkflow({
      ...asked,
      run,
      parent: parent.workflow,
      sources: parent.sources,
      expand,
    });
    const { workflow, params, sources } = found;
    refuseCircle(parent, workflow);
    const runId = options.newRunId();
    const earlier = await earlierRun(options, parent, attempt, { workflow, params });
    slot = await enterQueue(options, queuesOf(parent), { runId, workflow }, attempt);
    if (slot === null) return { ok: false, canceled: true, json: '', message: '' };
    const { hold } = slot;
    isStarted = true;
    const isNamedByVariables = run !== asked.run && !attempt.holdsSecret(run);
    attempt.started(null, { runId, ...(isNamedByVariables ? { workflow: run } : {}) });
    attempt.write('stderr', childLine(runId, workflow, earlier?.retryOf ?? null));
    const watcher = options.onChild?.({ runId: attempt.runId, step: step.name, attempt: number }, found) ?? null;
    const tails = new Map<string, readonly string[]>();
    const child: ActiveRun = options.host.start(
      { ...childRequest(parent, found, { runId, params, earlier }), outerLocks: options.locksAround(step.name) },
      (event, state) => {
        // A run that is not stored removes its logs when it ends.
        if (isFailedAttempt(event)) tails.set(event.step, child.logs.tail(event));
        watcher?.watch(event, state);
        hold(isHeld(state));
      },
      options.family,
    );
    watcher?.attach(child);
    await endWith(child, attempt);
    const result = childResult(runId, workflow, child.result());
    if (!result.ok)
      options.keepFailed(step.name, { state: child.state(), sources, tails, children: child.failedChildren });
    return result;
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    if (!isStarted) attempt.started(null);
    return { ok: false, canceled: false, json: '', message: error.message.replaceAll('\n', '; ') };
  } finally {
    slot?.leave();
  }
}

const noSlot: QueueSlot = { hold: () => {}, leave: () => {} };

/** A run within a run of the same queue would wait for it forever. */
async function enterQueue(
  options: Pick<ChildOptions, 'enterQueue'>,
  queues: readonly string[],
  { runId, workflow }: Pick<RunRequest, 'runId' | 'workflow'>,
  attempt: AskingAttempt,
): Promise<QueueSlot | null> {
  const { queue, name } = workflow;
  if (queue === undefined || queues.includes(queue)) return noSlot;
  return options.enterQueue(queue, { runId, workflow: name, step: null }, attempt);
}

function isFailedAttempt(event: StoredEvent): event is Extract<StoredEvent, { type: 'step.finished' }> {
  return event.type === 'step.finished' && event.status === 'failed' && event.attempt > 0;
}

/**
 * Returns null for a handler, which belongs to its own run, and for further attempts, which start from the beginning.
 */
function earlierRun(
  { retryChild }: ChildOptions,
  { retryOf }: RunRequest,
  { number, step }: AskingAttempt,
  child: Pick<ChildRetryRequest, 'workflow' | 'params'>,
): ReturnType<RetryChild> | null {
  if (retryOf === null || number > 1 || handlerKind(step.name) !== null) return null;
  return retryChild({ retryOf, step: step.name, ...child });
}

async function endWith(child: ActiveRun, { signal, kill }: AttemptSignals): Promise<void> {
  const stop = () => child.cancel({ reason: 'stop', message: 'the step that runs it was stopped', force: false });
  const force = () => child.cancel({ reason: 'stop', message: 'the step that runs it was killed', force: true });
  const releases = [signal.onAbort(stop), kill.onAbort(force)];
  try {
    await child.finished;
  } finally {
    for (const release of releases) release();
  }
}
