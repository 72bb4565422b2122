import { given, itemAt, smallestIndex } from '../data/collections.ts';
import { fanOutResult } from '../fan-out/instances.ts';
import { nodeAt, nodeIndex } from '../graph.ts';
import { type HandlerKind, handlerKind, handlerName } from '../workflow.ts';
import { type Draft, record } from './evolve.ts';
import { isBlocking } from './evolve-node.ts';
import type { StepEnd } from './outcome.ts';
import { mayStartAhead } from './policies.ts';
import { nextInstance } from './ready-sets.ts';
import type { EarlierSuccess } from './run.ts';
import {
  hasAttempt,
  isDue,
  isFinished,
  isLeftOut,
  isSettled,
  type RunState,
  type StepState,
  stepNode,
  stepState,
  unsettledSteps,
} from './run-state.ts';
import { handlersFor, verdict } from './verdict.ts';

type StepResult = Pick<StepEnd, 'status' | 'message'> & Partial<StepEnd> & { readonly upToDate?: EarlierSuccess };

/** Settles a step or handler; fields that `result` omits keep the values of the last attempt. */
export function settle(draft: Draft, at: number, state: StepState, result: StepResult): void {
  const { name: step } = state;
  const { status, reason = null, message, exitCode = state.exitCode, signal = state.signal, tolerated } = result;
  // No attempt at an up-to-date step is made.
  const attempt = result.upToDate === undefined ? state.attempt : 0;
  const earlier = result.upToDate === undefined ? {} : ({ cached: true, ...result.upToDate } as const);
  const end = { status, reason, message, exitCode, signal, outputs: result.outputs ?? state.outputs };
  record(draft, { type: 'step.finished', at, step, attempt, ...end, ...given({ tolerated }), ...earlier });
}

/**
 * Settles a step or handler without a running attempt, because nothing more may start. A step that waits for its next
 * repetition has done its work: it ends as its last repetition did.
 */
export function settleInactive(draft: Draft, at: number, step: StepState, why: string): void {
  const isDone = step.waitingFor === 'repeat';
  settle(draft, at, step, isDone ? lastEnd(draft.run, step) : { status: 'canceled', message: why });
}

/** The end of a waiting step that makes no further attempt. */
export function lastEnd(run: RunState, { name, reason, message, tolerated }: StepState): StepResult {
  const isSuccess = reason === null || (tolerated !== null && stepNode(run, name).continueOn.markSuccess === true);
  return isSuccess ? { status: 'succeeded', message: '', tolerated } : { status: 'failed', reason, message, tolerated };
}

/**
 * Settles every fan-out whose instances have all ended and every step that its dependencies prevent from running, then
 * the steps that depend on those.
 */
export function settleDue(draft: Draft, at: number): void {
  for (let next = smallestIndex(draft.run.due); next !== null; next = smallestIndex(draft.run.due)) {
    const step = itemAt(draft.run.nodes, next);
    const result = step.instances === undefined ? blockedResult(draft.run, next) : fanOutResult(draft.run, step);
    settle(draft, at, step, result);
  }
}

/**
 * Independent of the order in which the dependencies settled. A failure further up is named after the step that
 * failed.
 */
function blockedResult(run: RunState, index: number): StepResult {
  const blocking = blockers(run, index);
  const failed = blocking.find(({ status }) => status !== 'skipped');
  if (failed === undefined) return { status: 'skipped', message: `"${blocking[0]?.name}" was skipped` };
  return { status: 'upstream_failed', message: upstreamMessage(failed) };
}

/** The dependencies that hold a step back; those of a dependency that was left out in its place. */
function blockers(run: RunState, index: number): readonly StepState[] {
  const blocking = (run.graph.dependencies[index] ?? []).filter((dependency) => isBlocking(run, dependency));
  return blocking.flatMap((dependency) => {
    const step = itemAt(run.nodes, dependency);
    return isLeftOut(run, step) ? blockers(run, dependency) : [step];
  });
}

/** Returns why the dependents of this unsuccessful step do not run. */
function upstreamMessage({ name, status, message }: StepState): string {
  if (status === 'upstream_failed') return message;
  return status === 'canceled' ? `"${name}" was canceled` : `"${name}" failed`;
}

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
function schedule(draft: Draft, at: number, { name, attempt }: StepState): void {
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

/** Runs the handler `init`, without which a run starts no step. Returns whether steps may start: it has ended, or the workflow has none. */
export function initialize(draft: Draft, at: number): boolean {
  const init = handlerState(draft.run, 'init');
  if (init === null) return true;
  if (isDue(init)) schedule(draft, at, init);
  else if (init.status === 'canceled' || (init.status === 'failed' && init.tolerated === null)) {
    const end = { status: 'upstream_failed', message: upstreamMessage(init) } as const;
    for (const step of unsettledSteps(draft.run)) settle(draft, at, step, end);
  }
  return isSettled(init);
}

/** The handler of that kind; null if the workflow has none. */
export function handlerState(run: RunState, kind: HandlerKind): StepState | null {
  return run.graph.index.has(handlerName(kind)) ? stepState(run, handlerName(kind)) : null;
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
  if (isIdle(handler) ? isWanted && isNew : isDue(handler)) schedule(draft, at, handler);
}

function isIdle(handler: StepState): boolean {
  return handler.status === 'pending' || isSettled(handler);
}

/** The handler `wait` in a list while it runs or waits for another attempt, otherwise an empty list. */
export function announcing(run: RunState): readonly StepState[] {
  const handler = handlerState(run, 'wait');
  return handler === null || isIdle(handler) ? [] : [handler];
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
    if (hasAttempt(handler)) continue;
    if (handler.status === 'waiting' || startsNoHandlers(draft.run)) settleInactive(draft, at, handler, why);
  }
}

/** Whether nothing more may start, not even handlers. */
function startsNoHandlers({ cancellation }: RunState): boolean {
  return cancellation !== null && (cancellation.force || cancellation.reason === 'storage');
}

/** The handlers of the present outcome, in the order in which they run. */
export function unsettledHandlers(run: RunState): readonly StepState[] {
  const handlers = run.handling?.handlers ?? [];
  return handlers.map((kind) => stepState(run, handlerName(kind))).filter((handler) => !isSettled(handler));
}

/** The handlers that run after the steps or beside them. */
const laterHandlers: readonly HandlerKind[] = ['success', 'failure', 'cancel', 'exit', 'wait'];

/** Whether no further program will start: every unsettled step is running its last program. */
export function startsNoMore(run: RunState): boolean {
  const { pending, scheduled, waiting } = run.counts;
  if (run.startedAt === null || isFinished(run) || pending + scheduled + waiting > 0) return false;
  if (run.handling === null && laterHandlers.some((kind) => handlerState(run, kind) !== null)) return false;
  return [...unsettledSteps(run), ...unsettledHandlers(run)].every((step) => isLastProgram(run, step));
}

/** Other executors start several programs, as do services, which are checked. A variable may give a number of retries. */
function isLastProgram({ graph }: RunState, { name, status, process, retries }: StepState): boolean {
  const { executor, service, fanOut, retry, repeat, numbers } = nodeAt(graph, nodeIndex(graph, name));
  const isOneProgram = executor.type === 'command' && service === undefined && fanOut === undefined;
  const isLastAttempt = retries >= retry.limit && repeat === null && numbers === undefined;
  return status === 'running' && process !== null && isOneProgram && isLastAttempt;
}
