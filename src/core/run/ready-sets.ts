import { smallestIndex, withIndex, withoutIndex } from '../data/collections.ts';
import { nodeAt } from '../graph.ts';
import { isBlocked, isSettled, type RunState, type StepState } from './run-state.ts';

/**
 * Updates the ready and due sets for one step. A retry waits for a service that
 * is starting again, and does not follow after one that failed. Of an expanded fan-out, an instance may start.
 */
export function withSets(run: RunState, index: number, step: StepState): RunState {
  const { status, until, unmet, blocking, instances, waitingFor } = step;
  const isBetween = status === 'waiting' && waitingFor !== 'approval' && !isBlocked(step);
  const isOpen = unmet === 0 && (status === 'pending' || isBetween);
  const mayStart = isOpen && blocking === 0 && (status === 'pending' || until === null);
  const isReady = instances === undefined ? mayStart : unmet === 0 && nextInstance(run, index, step) !== null;
  const isDue =
    instances === undefined ? isOpen && blocking > 0 : instances.settled === instances.count && !isSettled(step);
  const ready = isReady ? withIndex(run.ready, index) : withoutIndex(run.ready, index);
  const due = isDue ? withIndex(run.due, index) : withoutIndex(run.due, index);
  return ready === run.ready && due === run.due ? run : { ...run, ready, due };
}

/** The instance of a fan-out that starts next, by the index of its item; null if none may. */
export function nextInstance(run: RunState, fanOut: number, { instances }: StepState): number | null {
  if (instances === undefined || instances.canceling !== null) return null;
  const again = smallestIndex(instances.again);
  if (again !== null) return again;
  const maxConcurrent = instances.maxConcurrent ?? nodeAt(run.graph, fanOut).fanOut?.maxConcurrent ?? 0;
  return instances.active + instances.keeping < maxConcurrent ? smallestIndex(instances.ready) : null;
}
