import { type HandlerKind, handlerKind, handlerName } from '../workflow.ts';
import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { isActive, isSettled, type RunState, type StepState, stepState, unsettledSteps } from './run-state.ts';
import { schedule } from './schedule.ts';
import { settle, settleInactive, upstreamMessage } from './settle.ts';
import { handlersFor, verdict } from './verdict.ts';

/** Runs the handler `init`. Returns whether steps may start: it has ended, or the workflow has none. */
export function initialize(draft: Draft, at: number): boolean {
  const init = handlerState(draft.run, 'init');
  if (init === null) return true;
  if (isDue(init)) schedule(draft, at, init);
  else if (init.status === 'canceled' || (init.status === 'failed' && init.tolerated === null)) {
    settleUninitialized(draft, at, init);
  }
  return isSettled(init);
}

/** The handler of that kind; null if the workflow has none. */
export function handlerState(run: RunState, kind: HandlerKind): StepState | null {
  return run.graph.index.has(handlerName(kind)) ? stepState(run, handlerName(kind)) : null;
}

/** Without its initialization, a run starts no step. */
function settleUninitialized(draft: Draft, at: number, init: StepState): void {
  const message = upstreamMessage(init);
  for (const step of unsettledSteps(draft.run)) settle(draft, at, step, { status: 'upstream_failed', message });
}

/** Called when all steps are settled: lists the handlers to run, if any. */
export function beginHandling(draft: Draft, at: number): void {
  if (startsNoHandlers(draft.run)) return;
  const { status, reason } = verdict(draft.run);
  const handlers = handlersFor(draft.run, status);
  if (handlers.length > 0 || announcing(draft.run).length > 0)
    record(draft, { type: 'run.handling', at, status, reason, handlers });
}

/** Starts the next handler, or finishes the run if none is left and the handler `wait` has ended too. */
export function continueHandling(draft: Draft, at: number): void {
  const [current] = unsettledHandlers(draft.run);
  if (current === undefined) {
    if (announcing(draft.run).length === 0) record(draft, { type: 'run.finished', at, ...verdict(draft.run) });
  } else if (isDue(current)) schedule(draft, at, current);
}

/**
 * Runs the handler `wait` beside the steps: once for all waits for an approval that began since its last start. Waits that
 * begin while it runs, and still last when it ends, get one more run.
 */
export function announceWaits(draft: Draft, at: number): void {
  const { run } = draft;
  const handler = handlerState(run, 'wait');
  if (handler === null) return;
  const isWanted = run.policies.isUnattended !== true && run.cancellation === null;
  const isNew = run.unannounced.some((name) => stepState(run, name).waitingFor === 'approval');
  const isIdle = handler.status === 'pending' || isSettled(handler);
  if (isIdle ? isWanted && isNew : isDue(handler)) schedule(draft, at, handler);
}

/** The handler `wait` in a list while it runs or waits for another attempt, otherwise an empty list. */
export function announcing(run: RunState): readonly StepState[] {
  const handler = handlerState(run, 'wait');
  return handler === null || handler.status === 'pending' || isSettled(handler) ? [] : [handler];
}

/** A failure of the handler `wait` is only a warning. */
export function warnOfHandler(draft: Draft, at: number, { name: step }: StepState): void {
  const { status, message } = stepState(draft.run, step);
  const isFailed = status === 'failed' || status === 'canceled';
  if (handlerKind(step) !== 'wait' || !isFailed || draft.run.cancellation !== null) return;
  record(draft, { type: 'run.warned', at, step, message: message === '' ? status : message });
}

/**
 * After a cancel: a handler that waits for another attempt gets none, and later handlers run only if they are allowed
 * to.
 */
export function settleHandlers(draft: Draft, at: number, why: string): void {
  for (const handler of [...unsettledHandlers(draft.run), ...announcing(draft.run)]) {
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
