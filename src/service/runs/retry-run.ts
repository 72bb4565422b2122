import { given } from '#core/data/collections.ts';
import { namedStep } from '#core/fan-out/instance-name.ts';
import { buildGraph, type Graph } from '#core/graph.ts';
import { autoRetryOf } from '#core/run/policies.ts';
import { planRetry, type RetryPlan, type RetrySelection } from '#core/run/retry.ts';
import {
  type EarlierResult,
  ownerName,
  type Param,
  type Restored,
  type ScheduledMoment,
  type StoredEvent,
} from '#core/run/run.ts';
import { isFinished, type RunState, stepNode, stepState } from '#core/run/run-state.ts';
import { resultNames } from '#core/words/step-results.ts';
import { allSteps, type Step, type Workflow } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';
import type { History } from '../history/history.ts';
import { type PastRun, unjudged } from '../history/past-run.ts';
import { noSuchStep } from '../history/run-reference.ts';
import type { LoadedWorkflow } from '../workflows/workflows.ts';
import { acceptParams, isLongCheck } from './given-params.ts';
import type { StartRequest } from './start-run.ts';

type RetryRequest = {
  readonly selection: RetrySelection;
  /** Replaces the parameters of the run; null: the same parameters. */
  readonly params: readonly Param[] | null;
  /** Replaces the dotenv files that options of the run named; absent or null: the same files. */
  readonly envFiles?: readonly string[] | null;
  /** Replaces the stored workflow; null: the stored workflow. */
  readonly current: LoadedWorkflow | null;
  readonly runId: string | null;
  /** Failures that `continueOn.failure` tolerates fail the new run, as they do when they failed the run that is retried. */
  readonly strict?: boolean;
};

/**
 * Returns the request for the retry of a run; null if no step is left to run. If `run` is a retry that ended before its
 * first attempt, the new run retries the one before, with the parameters and the workflow of `run`. Rejects with a
 * `WfError`: `run-active` (also if the daemon is retrying it), `not-found` for a step, `storage` if the
 * stored workflow is lost, `usage` if the retry needs secrets, which are not stored.
 */
export async function retryRequest(
  run: PastRun,
  request: RetryRequest,
  history: Pick<History, 'read'>,
): Promise<StartRequest | null> {
  if (!isFinished(run.state)) throw stillActive(run);
  await refuseDuringRetry(run, request.runId, history);
  const loaded = request.current ?? storedWorkflow(run);
  const { workflow } = loaded;
  const params = request.params ?? keptParams(run);
  const kept = await runWithResults(run, history);
  const { restored, rerun, missing } = plan(kept, request.selection, buildGraph(workflow));
  if (missing !== undefined) {
    const which = missing.map((name) => `"${name}"`).join(', ');
    const message = `the step cannot run alone: outputs of other steps were secret and are not kept: ${which}`;
    throw new WfError('usage', message, {
      help: 'leave out --step, or use --from with the step that produces them',
    });
  }
  if (rerun.length === 0 && !isEndMissing(kept)) {
    // A start checks its parameters itself.
    if (!isLongCheck(workflow, params)) acceptParams(workflow, params);
    return null;
  }
  return {
    ...loaded,
    params,
    envFiles: request.envFiles ?? keptEnvFiles(run),
    runId: request.runId,
    trigger: 'cli',
    strict: request.strict === true || run.state.strict,
    retry: { of: kept.runId, restored: withResults(restored, kept, workflow) },
    ...given({ selection: run.state.selection, moment: momentOf(run.state) }),
  };
}

/** The moment for which a run was started, which its retries keep. */
export function momentOf({ scheduledFor, previousFor }: RunState): ScheduledMoment | undefined {
  return scheduledFor === undefined ? undefined : { scheduledFor, ...given({ previousFor }) };
}

/** Refuses a run while the daemon retries it: both retries would run the same steps. `runId`: of the new run. */
async function refuseDuringRetry(
  { runId: failed, state }: PastRun,
  runId: string | null,
  { read }: Pick<History, 'read'>,
): Promise<void> {
  const due = autoRetryOf(state);
  if (due === null || due.at === null) return;
  const { derivedRunId } = await import('./derived-run-id.ts');
  const retryId = derivedRunId(failed, due.n + 1);
  // A daemon may request its own retry again.
  const retry = retryId === runId ? null : await read(retryId);
  if (retry === null || isFinished(retry.state)) return;
  throw new WfError('run-active', `the daemon is already retrying run ${failed}, with run ${retryId}`, {
    help: `wait for its end, or stop it first: wf stop ${retryId}`,
  });
}

/** Whether all steps succeeded, but a handler failed or the process died after the steps. */
export function isEndMissing({ state }: PastRun): boolean {
  return state.reason === 'handler' || state.reason === 'lost';
}

function plan({ state }: PastRun, selection: RetrySelection, graph: Graph): RetryPlan {
  if (!('only' in selection || 'from' in selection)) return planRetry(state, selection, graph);
  const asked = 'only' in selection ? selection.only : selection.from;
  const name = namedStep(state, asked) ?? asked;
  const instance = state.graph.index.has(name) ? stepState(state, name).item : undefined;
  const step = instance === undefined ? name : stepNode(state, name).instanceOf;
  const number = graph.index.get(step ?? name);
  if (number === undefined || number >= graph.stepCount) throw noSuchStep(asked, graph);
  if (instance?.masked === true) {
    const help = 'retry the whole step, which reads its items again';
    throw new WfError('usage', `"${asked}" cannot run alone: its item was secret and is not kept`, { help });
  }
  return planRetry(state, 'only' in selection ? { only: name } : { from: name }, graph);
}

function storedWorkflow({ runId, stored, damage }: PastRun): LoadedWorkflow {
  const help = 'use --file ("useFile" in the API) to run the current file';
  if (stored === null) throw new WfError('storage', `run ${runId} cannot be retried: ${damage.join(' ')}`, { help });
  if (!stored.masked) return { workflow: stored.workflow, sources: stored.sources, warnings: [] };
  throw new WfError('usage', `the workflow of run ${runId} contains secrets, which are not stored`, { help });
}

/** Returns the stored parameters. Throws `usage` if some were secret, or the journal does not hold them. */
export function keptParams({ runId, state }: PastRun): readonly Param[] {
  if (state.runId === '') {
    throw new WfError('usage', `the parameters of run ${runId} are unknown: its journal is empty`, {
      help: `start workflow "${state.workflow}" again, or give all its parameters with -p NAME=value`,
    });
  }
  const masked = state.givenParams.filter((param) => param.masked);
  if (masked.length === 0) return state.givenParams;
  const names = masked.map(({ name }) => (name === null ? 'one without a name' : `"${name}"`)).join(', ');
  throw new WfError('usage', `run ${runId} was given secret parameters, which are not kept: ${names}`, {
    help: 'give all its parameters again, with -p NAME=value',
  });
}

/** Returns the dotenv files that options of a run named. */
export function keptEnvFiles({ state }: PastRun): readonly string[] {
  return (state.dotenv ?? []).flatMap(({ path, option }) => (option ? [path] : []));
}

function stillActive(run: PastRun): WfError {
  const { runId, state } = run;
  if (run.isUnjudged) {
    throw new WfError('run-active', `run ${runId} may still be running: ${unjudged(run)}`, {
      help:
        state.owner === null
          ? `wf stop ${runId} cancels it`
          : `if that process is gone for certain, wf stop --owner-gone ${runId} records the run as lost; then retry it`,
    });
  }
  const owner = state.owner === null ? '' : `: ${ownerName(state.owner)} runs it`;
  return new WfError('run-active', `run ${runId} is still running${owner}`, { help: 'retry it after it has finished' });
}

/** After one of these, a retry has results of its own, and has recorded all those that it kept. */
const OWN_RESULTS: ReadonlySet<StoredEvent['type']> = new Set(['step.scheduled', 'step.answered', 'step.marked']);

/**
 * The finished run whose results a retry of `run` keeps: `run` itself, or, if it is a retry that ended before its first
 * attempt, the run that it retried. Such a retry was canceled, refused or killed before it recorded what it kept.
 */
export async function runWithResults(run: PastRun, { read }: Pick<History, 'read'>): Promise<PastRun> {
  const { retryOf } = run.state;
  if (
    retryOf === null ||
    run.stored === null ||
    !isCutShort(run.state) ||
    run.stored.events.some(({ type }) => OWN_RESULTS.has(type))
  )
    return run;
  const before = await read(retryOf);
  // A run is older than its retry, so the search ends; a removed one has no results.
  return before === null || !isFinished(before.state) ? run : runWithResults(before, { read });
}

/** A retry can also succeed without an attempt, if the run before it was lost after its last step. */
function isCutShort(state: RunState): boolean {
  return isFinished(state) && state.status !== 'succeeded' && state.status !== 'partially_succeeded';
}

const REFERENCE = /\$\{([A-Za-z_]\w*)\.(?:stdout|stderr|exitCode|exit_code|artifacts)\b/g;

/** Adds the results of restored steps to which texts of the workflow refer. */
export function withResults(restored: readonly Restored[], run: PastRun, workflow: Workflow): readonly Restored[] {
  const placed = allSteps(workflow).flatMap((step) => step.placed ?? []);
  const names = new Set([...JSON.stringify(workflow).matchAll(REFERENCE)].map(([, name]) => name));
  for (const { from } of placed) names.add(from);
  if (names.size === 0) return restored;
  const steps = workflow.steps.filter((step) => [step.name, ...resultNames(step)].some((name) => names.has(name)));
  const mentioned = new Set(steps.map(({ name }) => name));
  return restored.map((step) =>
    'status' in step && mentioned.has(step.step) ? { ...step, ...resultOf(step.step, run) } : step,
  );
}

function resultOf(name: string, { state, stored }: PastRun): { result?: EarlierResult } {
  if (stored === null || !state.graph.index.has(name)) return {};
  const { attempt, exitCode, earlier, child } = stepState(state, name);
  if (earlier !== undefined) return { result: { exitCode, ...earlier } };
  if (attempt === 0) return {};
  const path = (stream: 'stdout' | 'stderr') => stored.logs.pathOf(name, attempt, stream);
  return { result: { exitCode, stdout: path('stdout'), stderr: path('stderr'), ...given({ child }) } };
}

/** Lists the changes of a later version of a workflow as short phrases; empty if there are none. */
export function workflowChanges(before: Workflow, after: Workflow): readonly string[] {
  const { steps: oldSteps, ...oldRest } = before;
  const { steps: newSteps, ...newRest } = after;
  const old = new Map(oldSteps.map((step) => [step.name, step]));
  const now = new Set(newSteps.map(({ name }) => name));
  const changes = {
    new: newSteps.filter(({ name }) => !old.has(name)),
    changed: newSteps.filter((step) => old.has(step.name) && !isSame(old.get(step.name), step)),
    removed: oldSteps.filter(({ name }) => !now.has(name)),
  };
  const keys = Object.keys(newRest) as (keyof typeof newRest)[];
  return [
    ...Object.entries(changes).flatMap(([what, steps]) => named(what, steps)),
    ...keys.filter((key) => !isSame(oldRest[key], newRest[key])).map((key) => `"${key}" changed`),
  ];
}

function named(what: string, steps: readonly Step[]): readonly string[] {
  if (steps.length === 0) return [];
  const names = steps.map(({ name }) => `"${name}"`).join(', ');
  return [`${what} ${steps.length === 1 ? 'step' : 'steps'} ${names}`];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
