import { smallestIndex } from '../data/index-set.ts';
import { itemAt } from '../data/vector.ts';
import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { mayStartAhead } from './only-program.ts';
import { nextInstance } from './places.ts';
import { type RunState, type StepState, stepNode } from './run-state.ts';

/**
 * Starts ready steps in the order of the file, within the limit and the delay. No other function starts a step. After
 * a cancel, no step is ready. Up to `ahead` steps more than the limit are scheduled if all of them are single programs: the
 * caller starts as many of those as the limit allows.
 */
export function scheduleReady(draft: Draft, at: number, ahead: number): void {
  let beyond = ahead;
  for (let next = nextToStart(draft.run, beyond); next !== null; next = nextToStart(draft.run, beyond)) {
    const until = earliestStart(draft.run, at);
    if (until > at) record(draft, { type: 'run.delayed', at, until });
    else schedule(draft, at, next);
    if (!mayStartAhead(stepNode(draft.run, next.name))) beyond = 0;
  }
}

/**
 * Starts the step that a delay held back. The timer is trusted without comparing its time with `at`: clocks can be set
 * back, and Node's timers fire up to a millisecond early.
 */
export function endDelay(draft: Draft, at: number): void {
  if (draft.run.delayedUntil === null) return;
  const next = firstReady(draft.run);
  if (next !== null) schedule(draft, at, next);
}

/** Starts the next attempt at a step or handler. */
export function schedule(draft: Draft, at: number, { name, attempt }: StepState): void {
  record(draft, { type: 'step.scheduled', at, step: name, attempt: attempt + 1 });
}

function nextToStart(run: RunState, ahead: number): StepState | null {
  const { maxActiveSteps, delayMs } = run.policies;
  if (run.delayedUntil !== null) return null;
  if (maxActiveSteps === 0 || run.active < maxActiveSteps) return firstReady(run);
  if (delayMs > 0 || run.active >= maxActiveSteps + ahead) return null;
  const next = firstReady(run);
  return next !== null && mayStartAhead(stepNode(run, next.name)) ? next : null;
}

/** The first ready step in the order of the file; of a fan-out, its first ready instance. */
function firstReady(run: RunState): StepState | null {
  const next = smallestIndex(run.ready);
  if (next === null) return null;
  const step = itemAt(run.nodes, next);
  if (step.instances === undefined) return step;
  return itemAt(run.nodes, step.instances.first + (nextInstance(run, next, step) ?? 0));
}

/** At most one delay from now, even if the clock was set back. */
function earliestStart({ lastStartAt, policies }: RunState, at: number): number {
  return lastStartAt === null ? at : Math.min(lastStartAt, at) + policies.delayMs;
}
