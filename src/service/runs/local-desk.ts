import { isFinished } from '../../core/run/run-state.ts';
import { messageOf, WfError } from '../../errors.ts';
import { systemProblem } from '../../system-problem.ts';
import { type PastRun, readPastRun } from '../history/past-run.ts';
import type { ReadWorkflow } from '../workflows/workflow-loader.ts';
import {
  getWorkflow,
  type LoadedWorkflow,
  runnable,
  type WorkflowPlaces,
  type WorkflowReference,
} from '../workflows/workflows.ts';
import type { Carrier } from './launch-run.ts';
import { type QueueTools, refuseQueued } from './queued-run.ts';
import { retryRequest } from './retry-run.ts';
import type { AcceptedRun, RetryOrder, RunDesk, RunOrder } from './run-desk.ts';
import type { StartRequest } from './runs.ts';
import { startCarrier } from './start-carrier.ts';
import { type StopTools, stopRun } from './stop-run.ts';

/** What a desk works with. */
export type DeskTools = {
  readonly places: WorkflowPlaces;
  readonly read: ReadWorkflow;
  /** Failures that `continueOn.failure` tolerates fail every run. */
  readonly strict?: boolean;
  readonly accept: (request: StartRequest) => Promise<AcceptedRun>;
  /** What becomes of a run that was accepted: `beginRun`, or a place in a queue. */
  readonly begin: (runId: string) => Promise<void>;
  readonly stop: StopTools;
};

/** The desk of one machine: what it accepts is carried by processes of its own. */
export function createRunDesk(tools: DeskTools): RunDesk {
  const { accept, begin, stop } = tools;
  const take = async (request: StartRequest): Promise<AcceptedRun> => {
    const accepted = await accept(request);
    if (accepted.isNew) await begin(accepted.runId);
    return accepted;
  };
  return {
    start: async (order) => take(await startRequest(order, tools)),
    retry: async (order) => {
      const request = await requestToRetry(order, tools);
      return request === null ? null : take(request);
    },
    stop: (runId, by) => stopRun(runId, { by, force: false }, stop),
  };
}

/**
 * Starts the process for a waiting run, and resolves when that process owns the run, or has owned it and died. Throws what kept
 * it from that: then the run has failed for the same reason. Throws a `WfError` `storage` when that could not be recorded, so
 * that the run still waits.
 */
export async function beginRun(
  runId: string,
  control: QueueTools & { readonly launch: (runId: string) => Carrier },
): Promise<void> {
  try {
    const { launch, clock } = control;
    await startCarrier(runId, { launch, clock, isWanted: () => isWaiting(runId, control), report: () => {} });
  } catch (error) {
    await refuseFor(error, runId, control);
    throw error;
  }
}

/** False also for a run whose carrier died after `run.owned` and before its report: that run is lost. */
function isWaiting(runId: string, { archive }: QueueTools): boolean {
  const run = readPastRun(archive, runId);
  return run !== null && !isFinished(run.state) && run.state.promise !== null;
}

async function refuseFor(error: unknown, runId: string, tools: QueueTools): Promise<void> {
  if (error instanceof WfError && ['run-active', 'run-exists', 'not-found'].includes(error.code)) return;
  const reason = reasonOf(error);
  try {
    await refuseQueued(runId, reason, tools);
  } catch (cause) {
    const message = `run ${runId} could not begin and still waits: ${reason}; its end cannot be recorded: ${reasonOf(cause)}`;
    throw new WfError('storage', message, { cause });
  }
}

function reasonOf(error: unknown): string {
  return systemProblem(error)?.message ?? messageOf(error);
}

/** What an order to start comes to. Rejects with an `InvalidWorkflow`, or a `WfError` `not-found`. */
async function startRequest(order: RunOrder, { places, read, strict }: DeskTools): Promise<StartRequest> {
  const { workflow, params, runId, trigger } = order;
  const isStrict = strict === true || order.strict === true;
  const loaded = runnable(workflow, await read(workflow, places));
  return { ...loaded, params: params ?? [], runId, trigger, strict: isStrict };
}

/** What an order to retry comes to; null when there is nothing to do. Throws as `RunDesk` says. */
async function requestToRetry(order: RetryOrder, tools: DeskTools): Promise<StartRequest | null> {
  const { places, read, stop, strict } = tools;
  const { runId, selection, params, useFile, newRunId } = order;
  const run = await stop.history.read(runId);
  if (run === null) throw new WfError('not-found', `there is no run "${runId}"`);
  const current = useFile ? runnable(referenceOf(run), await read(referenceOf(run), places)) : null;
  const isStrict = strict === true || order.strict === true;
  const request = retryRequest(run, { selection, params, current, runId: newRunId, strict: isStrict });
  return request === null ? null : { ...request, trigger: 'api' };
}

/** The workflow of a run as its file says today. Throws an `InvalidWorkflow`, or a `WfError` `not-found` or `usage`. */
export function fileOf(run: PastRun, places: WorkflowPlaces): LoadedWorkflow {
  return getWorkflow(referenceOf(run), places);
}

function referenceOf({ runId, state }: PastRun): WorkflowReference {
  if (state.file !== null) return { name: state.file };
  throw new WfError('usage', `run ${runId} was not made from a file`, {
    help: `what it ran is kept with it: once it has ended, wf retry ${runId} runs it again`,
  });
}
