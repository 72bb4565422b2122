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

/** The dependencies of the desk. */
export type DeskTools = {
  readonly places: WorkflowPlaces;
  readonly read: ReadWorkflow;
  /** Failures that `continueOn.failure` tolerates fail every run. */
  readonly strict?: boolean;
  readonly accept: (request: StartRequest) => Promise<AcceptedRun>;
  /** Handles an accepted run: `beginRun`, or adding it to a queue. */
  readonly begin: (runId: string) => Promise<void>;
  readonly stop: StopTools;
};

/** Creates the desk of this machine; each run has a process of its own. */
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
 * Starts the process for a waiting run, and resolves when that process owns the run, or has owned it and died. If the
 * process cannot start, throws the reason, which is recorded as the failure of the run. Throws a `WfError` `storage` if
 * the failure cannot be recorded; the run then still waits.
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
    const message = `run ${runId} could not begin and still waits: ${reason}; its failure cannot be recorded: ${reasonOf(cause)}`;
    throw new WfError('storage', message, { cause });
  }
}

function reasonOf(error: unknown): string {
  return systemProblem(error)?.message ?? messageOf(error);
}

/** Converts an order to start into a request. Rejects with an `InvalidWorkflow`, or a `WfError` `not-found`. */
async function startRequest(order: RunOrder, { places, read, strict }: DeskTools): Promise<StartRequest> {
  const { workflow, params, runId, trigger } = order;
  const isStrict = strict === true || order.strict === true;
  const loaded = runnable(workflow, await read(workflow, places));
  return { ...loaded, params: params ?? [], runId, trigger, strict: isStrict };
}

/** Converts an order to retry into a request; null if no step is left to run. Throws as `RunDesk.retry` does. */
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

/** Loads the workflow of a run from its present file. Throws an `InvalidWorkflow`, or a `WfError` `not-found` or `usage`. */
export function fileOf(run: PastRun, places: WorkflowPlaces): LoadedWorkflow {
  return getWorkflow(referenceOf(run), places);
}

function referenceOf({ runId, state }: PastRun): WorkflowReference {
  if (state.file !== null) return { name: state.file };
  throw new WfError('usage', `run ${runId} was not made from a file`, {
    help: `its steps are stored with it: after it has finished, wf retry ${runId} runs them again`,
  });
}
