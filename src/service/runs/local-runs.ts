import { given } from '#core/data/collections.ts';
import type { Engine } from '#engine/engine.ts';
import type { Environment } from '#environment/environment.ts';
import { WfError } from '#system/errors.ts';
import { type PastRun, requireRun } from '../history/past-run.ts';
import { type AcceptedRun, newRunId, type RetryOrder, type RunActions, type StartOrder } from '../service.ts';
import type { ReadWorkflow } from '../workflows/workflow-loader.ts';
import {
  getWorkflow,
  type LoadedWorkflow,
  runnable,
  type WorkflowDirectories,
  type WorkflowReference,
} from '../workflows/workflows.ts';
import { type AnswerTools, answerStep } from './answering.ts';
import { markStep, type StopTools, stopRun } from './end-run.ts';
import { withoutRun } from './queued-run.ts';
import { retryRequest } from './retry-run.ts';
import { runRequest, type StartRequest, withDotenv } from './start-run.ts';

/** The dependencies of changing runs. */
export type LocalRunTools = StopTools &
  AnswerTools &
  RequestTools & {
    readonly engine: Engine;
    readonly env: Environment;
    /** Checks a request in another way, and completes it; default: it is checked as the run is accepted. */
    readonly checked?: (request: StartRequest) => Promise<StartRequest>;
  };

type RequestTools = Pick<StopTools, 'history'> & {
  readonly directories: WorkflowDirectories;
  readonly read: ReadWorkflow;
  /** Failures that `continueOn.failure` tolerates fail every run. */
  readonly strict: boolean;
};

/** The actions on local runs. `startLoaded`: as `start` and `retry` do, with a request that was planned already. */
export type LocalRuns = RunActions & { readonly startLoaded: (request: StartRequest) => Promise<AcceptedRun> };

/** Creates the actions on the runs of this machine; each run has a process of its own. */
export function createLocalRuns(tools: LocalRunTools): LocalRuns {
  const { engine, env, history, checked = async (request) => request } = tools;
  const startLoaded = async (asked: StartRequest): Promise<AcceptedRun> => {
    const request = await checked({ ...asked, runId: asked.runId ?? newRunId() });
    return engine.accept(runRequest(await withDotenv(request, withoutRun(env))));
  };
  return {
    startLoaded,
    start: async (order) => startLoaded(await requestToStart(order, tools)),
    retry: async (order) => {
      const request = await requestToRetry(order, tools);
      return request === null ? null : startLoaded(request);
    },
    stop: (runId, request) => stopRun(runId, request, tools),
    mark: async (runId, mark) => history.summarize(await markStep(runId, mark, tools)),
    answer: async (runId, order) => history.summarize(await answerStep(runId, order, tools)),
  };
}

/** Reads the workflow of an order to start. Rejects with an `InvalidWorkflow`, or a `WfError` `not-found`. */
async function requestToStart(order: StartOrder, { directories, read, strict }: RequestTools): Promise<StartRequest> {
  const { workflow, params, runId, trigger, moment, backfill, force, assumed, isUncached } = order;
  const loaded = runnable(workflow, await read(workflow, directories));
  return {
    ...loaded,
    params: params ?? [],
    runId,
    trigger,
    strict: strict || order.strict === true,
    ...given({ moment, backfill, force, assumed, isUncached }),
  };
}

/** Plans an order to retry; null if no step is left to run. Throws as `RunActions.retry` does. */
async function requestToRetry(order: RetryOrder, tools: RequestTools): Promise<StartRequest | null> {
  const { directories, read, history, strict } = tools;
  const { runId, selection, params, useFile, newRunId, trigger } = order;
  const run = requireRun(runId, await history.read(runId));
  const current = useFile ? runnable(referenceOf(run), await read(referenceOf(run), directories)) : null;
  const isStrict = strict || order.strict === true;
  const chosen = { selection, params, current, runId: newRunId, strict: isStrict };
  const request = await retryRequest(run, chosen, history);
  const { retryNumber } = order;
  return request === null ? null : { ...request, trigger, ...given({ retryNumber }) };
}

/** Loads the workflow of a run from its present file. Throws an `InvalidWorkflow`, or a `WfError` `not-found` or `usage`. */
export function fileOf(run: PastRun, directories: WorkflowDirectories): LoadedWorkflow {
  return getWorkflow(referenceOf(run), directories);
}

function referenceOf({ runId, state }: PastRun): WorkflowReference {
  if (state.file !== null) return { name: state.file };
  throw new WfError('usage', `run ${runId} was not made from a file`, {
    help: `its steps are stored with it: after it has finished, wf retry ${runId} runs them again`,
  });
}
