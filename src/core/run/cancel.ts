import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { announcing, handlerState, settleHandlers, unsettledHandlers } from './handling.ts';
import type { CancelReason, RunInput } from './run.ts';
import {
  instancesOf,
  isActive,
  isSettled,
  type RunState,
  type StepState,
  stepState,
  unsettledSteps,
} from './run-state.ts';
import { settle, settleDue, settleInactive } from './settle.ts';
import { statusAfterCancel, type Verdict } from './verdict.ts';

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
    finish(draft, at, { status: statusAfterCancel(reason), reason, message });
  } else {
    record(draft, { type: 'run.canceling', at, reason, message, force });
    settleUnattempted(draft, at, causeOf(reason));
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
  finish(draft, at, { status: 'failed', reason: 'lost', message });
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
    for (const step of unsettled(draft.run)) if (!isActive(step)) settleInactive(draft, at, step, why);
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
    if (!isSettled(instance) && !isActive(instance)) settleInactive(draft, at, instance, message);
  }
}

function finish(draft: Draft, at: number, end: Verdict): void {
  record(draft, { type: 'run.finished', at, ...end });
}

function causeOf(reason: CancelReason): string {
  switch (reason) {
    case 'stop':
      return 'the run was stopped';
    case 'timeout':
      return 'the run timed out';
    case 'storage':
      return 'the disk refused to store a part of the run';
  }
}
