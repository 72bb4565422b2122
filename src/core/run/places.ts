import { smallestIndex, withIndex, withoutIndex } from '../data/index-set.ts';
import { nodeAt } from '../graph.ts';
import { isSettled, type RunState, type StepState } from './run-state.ts';

/**
 * Puts a step into the set of those that may start, or of those that are settled next. A retry waits for a service that
 * is starting again, and does not follow after one that failed. Of an expanded fan-out, an instance may start.
 */
export function withPlace(run: RunState, index: number, step: StepState): RunState {
  const { status, until, unmet, blocking, instances, waitingFor } = step;
  const isOpen = unmet === 0 && (status === 'pending' || (status === 'waiting' && waitingFor !== 'approval'));
  const mayStart = isOpen && blocking === 0 && (status === 'pending' || until === null);
  const isReady = instances === undefined ? mayStart : unmet === 0 && mayStartInstance(run, index, step);
  const isDue =
    instances === undefined ? isOpen && blocking > 0 : instances.settled === instances.count && !isSettled(step);
  const ready = isReady ? withIndex(run.ready, index) : withoutIndex(run.ready, index);
  const due = isDue ? withIndex(run.due, index) : withoutIndex(run.due, index);
  return ready === run.ready && due === run.due ? run : { ...run, ready, due };
}

function mayStartInstance(run: RunState, index: number, { instances }: StepState): boolean {
  const maxConcurrent = instances?.maxConcurrent ?? nodeAt(run.graph, index).fanOut?.maxConcurrent ?? 0;
  if (instances === undefined || instances.canceling !== null || instances.active >= maxConcurrent) return false;
  return smallestIndex(instances.ready) !== null;
}
