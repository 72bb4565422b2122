import { itemAt, withItem } from '../data/collections.ts';
import { countInstance } from '../fan-out/instances.ts';
import { nodeAt } from '../graph.ts';
import { withSets } from './ready-sets.ts';
import { isActive, isLeftOut, isServing, isSettled, type RunState, type StepState } from './run-state.ts';

/** Updates one node with its counters and sets, and of a service also its dependents. */
export function evolveNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const next = changeNode(run, index, change);
  const isBackgroundStep = index < run.graph.stepCount && nodeAt(run.graph, index).service !== undefined;
  return isBackgroundStep ? withDependents(run, next, index) : next;
}

/** Settles a node: each of its dependents has one dependency less to wait for. */
export function settleNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const next = changeNode(run, index, change);
  if (index >= run.graph.stepCount) return next;
  const tolerated = next.tolerated + Number(isTolerated(next, index));
  return withDependents(run, { ...next, settled: next.settled + 1, tolerated }, index);
}

/** Changes a node that may already be settled. Its dependents stay as they are, since the run has finished. */
export function resettleNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const wasSettled = isSettled(itemAt(run.nodes, index));
  const next = changeNode(run, index, change);
  if (index >= run.graph.stepCount) return next;
  const before = Number(wasSettled && isTolerated(run, index));
  const tolerated = next.tolerated - before + Number(isTolerated(next, index));
  return { ...next, settled: next.settled + Number(!wasSettled), tolerated };
}

/** Whether a step holds its dependents back for good. */
export function isBlocking(run: RunState, index: number): boolean {
  return effectOf(run, index) === 'blocking';
}

/**
 * Whether a settled step lets its dependents run. A step restored by a retry always does: the retry was planned that
 * way. A step that was left out does if those before it do.
 */
function letsDependentsRun(run: RunState, index: number): boolean {
  const step = itemAt(run.nodes, index);
  const { status, restored, tolerated } = step;
  if (isLeftOut(run, step)) return step.blocking === 0;
  const { continueOn } = nodeAt(run.graph, index);
  if (restored || status === 'succeeded') return true;
  return (status === 'failed' && tolerated !== null) || (status === 'skipped' && continueOn.skipped);
}

function changeNode(run: RunState, index: number, change: Partial<StepState>): RunState {
  const before = itemAt(run.nodes, index);
  const after = { ...before, ...change };
  const next = { ...run, nodes: withItem(run.nodes, index, after) };
  if (after.item !== undefined) return countInstance(next, before, after);
  if (index >= run.graph.stepCount) return next;
  const sorted = withSets(next, index, after);
  if (before.status === after.status && takesSlot(before) === takesSlot(after)) return sorted;
  return {
    ...sorted,
    counts: moved(run.counts, before, after),
    active: run.active + Number(takesSlot(after)) - Number(takesSlot(before)),
    held: run.held + Number(after.waitingFor === 'approval') - Number(before.waitingFor === 'approval'),
  };
}

function takesSlot(step: StepState): boolean {
  return isActive(step) && !isServing(step);
}

function isTolerated(run: RunState, index: number): boolean {
  const { status, tolerated } = itemAt(run.nodes, index);
  return status === 'failed' && tolerated !== null;
}

/** The effect of a node on its dependents: they wait for it, it holds them back, or neither. */
function effectOf(run: RunState, index: number): 'unmet' | 'blocking' | 'met' {
  const step = itemAt(run.nodes, index);
  // The dependents of a kept step may need the outputs of a dependency that runs again.
  if (step.restored && step.unmet > 0) return 'unmet';
  if (isSettled(step)) return letsDependentsRun(run, index) ? 'met' : 'blocking';
  return isServing(step) ? 'met' : 'unmet';
}

/** Counts the change of a node's effect in its dependents. Only a service has more than one such change. */
function withDependents(before: RunState, run: RunState, index: number): RunState {
  let next = run;
  // A restored step has an effect only after those before it, which changes its own dependents.
  const changes: Change[] = [{ index, was: effectOf(before, index), is: effectOf(run, index) }];
  for (let change = changes.pop(); change !== undefined; change = changes.pop()) {
    const { was, is } = change;
    if (was === is) continue;
    const unmet = Number(is === 'unmet') - Number(was === 'unmet');
    const blocking = Number(is === 'blocking') - Number(was === 'blocking');
    for (const dependent of run.graph.dependents[change.index] ?? []) {
      const step = itemAt(next.nodes, dependent);
      const effect = step.restored ? effectOf(next, dependent) : null;
      const after = { ...step, unmet: step.unmet + unmet, blocking: step.blocking + blocking };
      next = { ...next, nodes: withItem(next.nodes, dependent, after) };
      if (step.unmet === 0 || after.unmet === 0) next = withSets(next, dependent, after);
      if (effect !== null) changes.push({ index: dependent, was: effect, is: effectOf(next, dependent) });
    }
  }
  return next;
}

type Effect = ReturnType<typeof effectOf>;

type Change = { readonly index: number; readonly was: Effect; readonly is: Effect };

function moved(counts: RunState['counts'], before: StepState, after: StepState): RunState['counts'] {
  if (before.status === after.status) return counts;
  return { ...counts, [before.status]: counts[before.status] - 1, [after.status]: counts[after.status] + 1 };
}
