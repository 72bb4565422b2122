import { itemAt } from '../data/collections.ts';
import { nodeAt } from '../graph.ts';
import { type Draft, record } from './evolve.ts';
import type { CancelReason, Outcome, RunInput } from './run.ts';
import {
  hasAttempt,
  instancesOf,
  isActive,
  isServing,
  isSettled,
  type RunState,
  type StepState,
  stepState,
  unsettledSteps,
} from './run-state.ts';
import {
  announcing,
  handlerState,
  settle,
  settleDue,
  settleHandlers,
  settleInactive,
  unsettledHandlers,
} from './settle.ts';
import { statusAfterCancel } from './verdict.ts';

type Cancel = Extract<RunInput, { type: 'cancel' }>;
type Lost = Extract<RunInput, { type: 'lost' }>;

/**
 * Ends the run early: running attempts end with their own report, and all other steps are settled at once. A run that
 * has not started finishes immediately, its steps untouched.
 */
export function cancel(draft: Draft, input: Cancel): void {
  const { at, reason, message, force } = input;
  if (!changesSomething(draft.run, input)) return;
  if (draft.run.status === 'queued') {
    record(draft, { type: 'run.finished', at, status: statusAfterCancel(reason), reason, message });
  } else {
    record(draft, { type: 'run.canceling', at, reason, message, force });
    settleUnattempted(draft, at, causes[reason]);
  }
}

/** Settles every unsettled step and instance, after the process that ran the run and its attempts has died. */
export function lose(draft: Draft, { at, message }: Lost): void {
  if (draft.run.status !== 'queued') {
    for (const step of unsettled(draft.run).filter(isActive)) {
      const what = step.status === 'scheduled' ? `${message}; the step may not have started` : message;
      settle(draft, at, step, { status: 'failed', reason: 'lost', message: what });
    }
    for (const step of unsettled(draft.run)) settleInactive(draft, at, step, 'the run was lost');
    settleDue(draft, at);
  }
  record(draft, { type: 'run.finished', at, status: 'failed', reason: 'lost', message });
}

/** Whether a cancel has an effect: it is the first, or cancels more than those before it (handlers, the running one). */
function changesSomething({ cancellation, handling }: RunState, { reason, force }: Cancel): boolean {
  if (reason === 'timeout' && handling !== null) return false;
  if (cancellation === null) return true;
  if (force && !cancellation.force) return true;
  if (reason === 'storage') return cancellation.reason !== 'storage';
  return handling !== null && handling.interrupted === null && cancellation.reason === 'timeout';
}

function settleUnattempted(draft: Draft, at: number, why: string): void {
  if (draft.run.handling !== null) {
    settleHandlers(draft, at, why);
  } else {
    for (const step of unsettled(draft.run)) if (!hasAttempt(step)) settleInactive(draft, at, step, why);
  }
}

function unsettled(run: RunState): readonly StepState[] {
  if (run.handling !== null) return [...unsettledHandlers(run), ...announcing(run)];
  const init = handlerState(run, 'init');
  return [...(init === null || isSettled(init) ? [] : [init]), ...unsettledSteps(run), ...announcing(run)];
}

/** Lets no further instance of a fan-out start: running attempts end with their own report. */
export function cancelFanOut(draft: Draft, at: number, { name }: StepState, message: string): void {
  record(draft, { type: 'step.canceling', at, step: name, message });
  for (const instance of instancesOf(draft.run, stepState(draft.run, name))) {
    if (!isSettled(instance) && !hasAttempt(instance)) settleInactive(draft, at, instance, message);
  }
}

const causes: { readonly [reason in CancelReason]: string } = {
  stop: 'the run was stopped',
  timeout: 'the run timed out',
  storage: 'the disk refused to store a part of the run',
};

/**
 * Ends services one after another once every other step is settled, dependents first. A workflow of services alone runs
 * until it is stopped or all have ended.
 */
export function endBackgroundSteps(draft: Draft, at: number): void {
  const { run } = draft;
  const { services, stepCount } = run.graph;
  const open = stepCount - run.settled;
  if (open > services.length || (services.length === stepCount && run.cancellation === null)) return;
  const left = services.filter((index) => !isSettled(itemAt(run.nodes, index)));
  const isDue = run.cancellation === null ? isServing : isActive;
  if (left.length < open || !left.every((index) => isDue(itemAt(run.nodes, index)))) return;
  if (left.some((index) => itemAt(run.nodes, index).isEnding)) return;
  const next = left.findLast((index) => openDependents(run, index).length === 0);
  if (next === undefined) return;
  const { name, attempt } = itemAt(run.nodes, next);
  record(draft, { type: 'step.ending', at, step: name, attempt });
}

/**
 * The outcome of an attempt at a service: one that was asked to end has succeeded if it was ready, however its program
 * ended. One that ends by itself has failed before it was ready, and while other steps need it.
 */
export function backgroundOutcome(run: RunState, index: number, outcome: Outcome): Outcome {
  const state = itemAt(run.nodes, index);
  const { service } = nodeAt(run.graph, index);
  if (service === undefined || outcome.status === 'skipped') return outcome;
  if (state.isEnding && state.isReady && run.cancellation?.force !== true) {
    return { status: 'succeeded', exitCode: outcome.exitCode, outputs: {} };
  }
  const [dependent] = openDependents(run, index);
  if (outcome.status !== 'succeeded' || (state.isReady && dependent === undefined)) return outcome;
  const message = state.isReady ? `ended while "${dependent?.name}" needs it` : 'ended before it was ready';
  const reason = state.isReady ? 'exit' : 'unready';
  return { status: 'failed', reason, message, exitCode: outcome.exitCode, signal: null, outputs: outcome.outputs };
}

function openDependents(run: RunState, index: number): readonly StepState[] {
  const dependents = run.graph.dependents[index] ?? [];
  return dependents.map((dependent) => itemAt(run.nodes, dependent)).filter((step) => !isSettled(step));
}
