import { buildGraph } from '#core/graph.ts';
import { isSameChild, planRetry } from '#core/run/retry.ts';
import type { Restored } from '#core/run/run.ts';
import { isFinished, type RunState, stepState } from '#core/run/run-state.ts';
import { originOf } from '#core/summary/summary.ts';
import { handlerKind, type Workflow } from '#core/workflow.ts';
import type { ChildRetries, ChildRetryRequest, KnownRetry } from '#engine/engine.ts';
import type { History } from '../history/history.ts';
import type { PastRun } from '../history/past-run.ts';
import { isEndMissing, runWithResults, withResults } from './retry-run.ts';

/** The run to retry in the step, and the steps restored from it. */
export type ChildRetry = { readonly retryOf: string; readonly restored: readonly Restored[] };

/**
 * Plans the retry of the sub-workflow run of an earlier attempt. Null if a new run begins from the start: the earlier
 * run was removed, has no step left to run, or had another file or other parameters.
 */
export async function retryChild(
  { retryOf, step, workflow, params }: ChildRetryRequest,
  history: Pick<History, 'read'>,
): Promise<ChildRetry | null> {
  const runId = await earlierChild(retryOf, step, history);
  const last = runId === null ? null : await history.read(runId);
  if (last === null || !isFinished(last.state)) return null;
  if (!isSameChild(createdOf(last.state), workflow, params)) return null;
  return planChild(last, workflow, history);
}

/** Null if the child has no step left to run. */
async function planChild(
  last: PastRun,
  workflow: Workflow,
  history: Pick<History, 'read'>,
): Promise<ChildRetry | null> {
  const child = await runWithResults(last, history);
  const { restored, rerun } = planRetry(child.state, { steps: 'unfinished' }, buildGraph(workflow));
  if (rerun.length === 0 && !isEndMissing(child)) return null;
  return { retryOf: child.runId, restored: withResults(restored, child, workflow) };
}

/** Finds the earlier child run. If a retry ended before the step, the run that it retried is searched. */
async function earlierChild(retryOf: string, step: string, history: Pick<History, 'read'>): Promise<string | null> {
  const seen = new Set<string>();
  for (let runId: string | null = retryOf; runId !== null && !seen.has(runId); ) {
    seen.add(runId);
    const run = await history.read(runId);
    if (run === null || !run.state.graph.index.has(step)) return null;
    const state = stepState(run.state, step);
    if (state.child !== undefined) return state.child;
    if (state.attempt > 0) return null;
    runId = originOf(run.state, state) ?? run.state.retryOf;
  }
  return null;
}

/**
 * Plans the retries of all sub-workflow runs of a run to be retried, as `retryChild` does for one step. `workflowOf`: the
 * workflow of a file; undefined if no step runs it.
 */
export async function retryChildren(
  retryOf: string,
  workflowOf: (file: string | null) => Workflow | undefined,
  history: Pick<History, 'read'>,
): Promise<ChildRetries> {
  const run = await history.read(retryOf);
  const found: Record<string, KnownRetry> = {};
  for (const { name, executor } of run?.state.graph.nodes ?? []) {
    if (executor.type !== 'workflow' || handlerKind(name) !== null) continue;
    const runId = await earlierChild(retryOf, name, history);
    const last = runId === null ? null : await history.read(runId);
    const workflow = last === null ? undefined : workflowOf(last.state.file);
    if (last === null || workflow === undefined || !isFinished(last.state)) continue;
    const plan = await planChild(last, workflow, history);
    if (plan === null) continue;
    found[name] = {
      ...createdOf(last.state),
      ...plan,
      retries: await retryChildren(plan.retryOf, workflowOf, history),
    };
  }
  return found;
}

function createdOf({ file, workflow, givenParams }: RunState): Pick<KnownRetry, 'file' | 'workflow' | 'params'> {
  return { file, workflow, params: givenParams };
}
