import { handlerName } from '../workflow.ts';
import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { isActive, isSettled, type RunState, type StepState, stepState } from './run-state.ts';
import { schedule } from './schedule.ts';
import { settleInactive } from './settle.ts';
import { handlersFor, verdict } from './verdict.ts';

/** Called when all steps are settled: lists the handlers to run, if any. */
export function beginHandling(draft: Draft, at: number): void {
  if (startsNoHandlers(draft.run)) return;
  const { status, reason } = verdict(draft.run);
  const handlers = handlersFor(draft.run, status);
  if (handlers.length > 0) record(draft, { type: 'run.handling', at, status, reason, handlers });
}

/** Starts the next handler, or finishes the run if none is left. */
export function continueHandling(draft: Draft, at: number): void {
  const [current] = unsettledHandlers(draft.run);
  if (current === undefined) record(draft, { type: 'run.finished', at, ...verdict(draft.run) });
  else if (isDue(current)) schedule(draft, at, current);
}

/**
 * After a cancel: a handler that waits for another attempt gets none, and later handlers run only if they are allowed
 * to.
 */
export function settleHandlers(draft: Draft, at: number, why: string): void {
  for (const handler of unsettledHandlers(draft.run)) {
    if (isActive(handler)) continue;
    if (handler.status === 'waiting' || startsNoHandlers(draft.run)) settleInactive(draft, at, handler, why);
  }
}

/** Whether nothing more may start, not even handlers. */
function startsNoHandlers({ cancellation }: RunState): boolean {
  return cancellation !== null && (cancellation.force || cancellation.reason === 'storage');
}

function isDue({ status, until }: StepState): boolean {
  return status === 'pending' || (status === 'waiting' && until === null);
}

/** The handlers of the present outcome, in the order in which they run. */
export function unsettledHandlers(run: RunState): readonly StepState[] {
  const handlers = run.handling?.handlers ?? [];
  return handlers.map((kind) => stepState(run, handlerName(kind))).filter((handler) => !isSettled(handler));
}
