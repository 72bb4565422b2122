import { buildGraph } from '#core/graph.ts';
import { planRetry } from '#core/run/retry.ts';
import type { Param, Restored } from '#core/run/run.ts';
import { isFinished, type RunState, stepState } from '#core/run/run-state.ts';
import { originOf } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { ChildRetryRequest } from '#engine/engine.ts';
import type { History } from '../history/history.ts';
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
  if (last === null || !isFinished(last.state) || !isSame(last.state, workflow, params)) return null;
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

/** Whether file and parameters are the same. A secret parameter is not stored, so it never counts as the same. */
function isSame(
  { file, workflow: name, givenParams }: RunState,
  workflow: Workflow,
  params: readonly Param[],
): boolean {
  if (file !== workflow.file || name !== workflow.name || givenParams.length !== params.length) return false;
  return givenParams.every((before, index) => {
    const now = params[index];
    return before.masked !== true && before.name === now?.name && before.value === now.value;
  });
}
