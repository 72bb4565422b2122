import { withIndex, withoutIndex } from '../data/index-set.ts';
import { itemAt, withItem } from '../data/vector.ts';
import { nodeAt } from '../graph.ts';
import type { RunState, StepState } from './run-state.ts';
import { isActive, isSettled } from './run-state.ts';

/** Changes one node, and the counters and sets that depend on its status. */
export function evolveNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const before = itemAt(run.nodes, index);
  const after = { ...before, ...change };
  const nodes = withItem(run.nodes, index, after);
  if (index >= run.graph.stepCount || before.status === after.status) return { ...run, nodes };
  return {
    ...run,
    nodes,
    counts: moved(run.counts, before, after),
    active: run.active + Number(isActive(after)) - Number(isActive(before)),
    ready: withoutIndex(run.ready, index),
    blocked: withoutIndex(run.blocked, index),
  };
}

/** Settles a node: each of its dependents has one dependency less to wait for. */
export function settleNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const next = evolveNode(run, index, change);
  if (index >= run.graph.stepCount) return next;
  const tolerated = next.tolerated + Number(isTolerated(next, index));
  return releaseDependents({ ...next, settled: next.settled + 1, tolerated }, index);
}

/** Changes a node that may already be settled. Its dependents stay as they are, since the run has finished. */
export function resettleNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const wasSettled = isSettled(itemAt(run.nodes, index));
  const next = evolveNode(run, index, change);
  if (index >= run.graph.stepCount) return next;
  const before = Number(wasSettled && isTolerated(run, index));
  const tolerated = next.tolerated - before + Number(isTolerated(next, index));
  return { ...next, settled: next.settled + Number(!wasSettled), tolerated };
}

/**
 * Whether a settled step lets its dependents run. A step restored by a retry always does: the retry was planned that
 * way.
 */
export function letsDependentsRun(run: RunState, index: number): boolean {
  const { status, restored, tolerated } = itemAt(run.nodes, index);
  const { continueOn } = nodeAt(run.graph, index);
  if (restored || status === 'succeeded') return true;
  return (status === 'failed' && tolerated !== null) || (status === 'skipped' && continueOn.skipped);
}

function isTolerated(run: RunState, index: number): boolean {
  const { status, tolerated } = itemAt(run.nodes, index);
  return status === 'failed' && tolerated !== null;
}

function releaseDependents(run: RunState, index: number): RunState {
  const isBlocking = !letsDependentsRun(run, index);
  let { nodes, ready, blocked } = run;
  for (const dependent of run.graph.dependents[index] ?? []) {
    const before = itemAt(nodes, dependent);
    const after = { ...before, unmet: before.unmet - 1, blocking: before.blocking + Number(isBlocking) };
    nodes = withItem(nodes, dependent, after);
    if (after.unmet > 0 || after.status !== 'pending') continue;
    if (after.blocking === 0) ready = withIndex(ready, dependent);
    else blocked = withIndex(blocked, dependent);
  }
  return { ...run, nodes, ready, blocked };
}

function moved(counts: RunState['counts'], before: StepState, after: StepState): RunState['counts'] {
  return { ...counts, [before.status]: counts[before.status] - 1, [after.status]: counts[after.status] + 1 };
}
