import type { RepeatPolicy, Step, Waits } from '../workflow.ts';
import { attemptResult, type StepEnd } from './outcome.ts';
import type { AttemptFacts, Outcome, ToleratedBy } from './run.ts';
import { type RunState, type StepState, steps } from './run-state.ts';

/** Another attempt after a wait. `tolerated`: what tolerates the failure of the one before. */
type NextAttempt = {
  readonly why: 'retry' | 'repeat';
  readonly waitMs: number;
  readonly tolerated: ToleratedBy | null;
};

/** The exit code of a step that was ended by its time limit, as of the program `timeout`. */
const TIMEOUT_EXIT_CODE = 124;

/**
 * Applies the policies of a step to the outcome of its attempt: retries first, then repetitions, then `continueOn`.
 * `state` is the state before the end of the attempt.
 */
export function followUp(
  step: Step,
  state: StepState,
  outcome: Outcome,
  facts: AttemptFacts = {},
): NextAttempt | StepEnd {
  const { retry, repeat } = step;
  if (isRetried(step, state, outcome)) {
    const share = 1 - (retry.jitter ?? 0) * (facts.random ?? 0);
    return { why: 'retry', waitMs: Math.round(waitMs(retry, state.retries + 1) * share), tolerated: null };
  }
  if (repeat === null || !isRepeated(step, repeat, outcome, facts)) return lastResult(step, outcome, facts);
  const repetition = state.repetitions + 1;
  if (repetition < (repeat.limit ?? Number.POSITIVE_INFINITY)) {
    return { why: 'repeat', waitMs: waitMs(repeat, repetition), tolerated: toleratedBy(step, outcome, facts) };
  }
  return lastResult(step, repeat.mode === 'until' ? unmet(outcome, repetition) : outcome, facts);
}

/** The result of a step without further attempts, after its `continueOn`. */
export function lastResult(step: Step, outcome: Outcome, facts: AttemptFacts = {}): StepEnd {
  const tolerated = toleratedBy(step, outcome, facts);
  const end = { ...attemptResult(outcome), tolerated };
  const succeeds = tolerated !== null && step.continueOn.markSuccess === true;
  return succeeds ? { ...end, status: 'succeeded', reason: null, message: '' } : end;
}

/** Which facts the policies of a step need after this outcome. */
export function neededFacts(
  step: Step,
  state: StepState,
  outcome: Outcome,
): { readonly [fact in Exclude<keyof AttemptFacts, 'numbers'>]: boolean } {
  const isDecided = isRetried(step, state, outcome);
  const { repeat, retry, continueOn, approval } = step;
  return {
    random: isDecided && (retry.jitter ?? 0) > 0,
    conditionMet: !isDecided && repeat?.condition !== undefined && hasEnded(outcome),
    prompt: !isDecided && approval !== undefined && approval.prompt !== '' && hasEnded(outcome),
    outputMatched: !isDecided && continueOn.output !== undefined && toleratedBy(step, outcome, {}) === null,
  };
}

function isRetried({ retry, continueOn }: Step, { retries }: StepState, outcome: Outcome): boolean {
  if (outcome.status !== 'failed' || retries >= retry.limit) return false;
  const code = exitCodeOf(outcome);
  if (retry.exitCodes !== undefined) return code !== null && retry.exitCodes.includes(code);
  return code === null || continueOn.exitCodes?.includes(code) !== true;
}

/** Whether another repetition is to follow if the limit allows it. */
function isRepeated(step: Step, repeat: RepeatPolicy, outcome: Outcome, facts: AttemptFacts): boolean {
  if (!hasEnded(outcome)) return false;
  if (repeat.mode === undefined) return outcome.status === 'succeeded' || toleratedBy(step, outcome, facts) !== null;
  const isWhile = repeat.mode === 'while';
  // A condition that could not be evaluated is the outcome.
  if (repeat.condition !== undefined) return facts.conditionMet === isWhile;
  const code = exitCodeOf(outcome);
  return (code !== null && repeat.exitCodes?.includes(code) === true) === isWhile;
}

function unmet(outcome: Outcome, repetitions: number): Outcome {
  const { exitCode, signal, outputs } = attemptResult(outcome);
  const count = repetitions === 1 ? '1 repetition' : `${repetitions} repetitions`;
  const message = `the condition of "repeatPolicy" was not met after ${count}`;
  return { status: 'failed', reason: 'error', message, exitCode, signal, outputs: outputs ?? {} };
}

function toleratedBy({ continueOn }: Step, outcome: Outcome, { outputMatched }: AttemptFacts): ToleratedBy | null {
  if (outcome.status !== 'failed') return null;
  if (continueOn.failure) return 'failure';
  const code = exitCodeOf(outcome);
  if (code !== null && continueOn.exitCodes?.includes(code) === true) return 'exitCode';
  return continueOn.output !== undefined && outputMatched === true ? 'output' : null;
}

/** Whether the attempt was made and ran to its end: it was neither skipped nor canceled. */
function hasEnded({ status }: Outcome): boolean {
  return status === 'succeeded' || status === 'failed';
}

/** The exit code that policies compare; null if no program ran. */
function exitCodeOf(outcome: Outcome): number | null {
  if (outcome.status === 'failed' && outcome.reason === 'timeout') return TIMEOUT_EXIT_CODE;
  return attemptResult(outcome).exitCode;
}

/** The wait before the retry or repetition with this number, from 1. */
function waitMs({ intervalMs, backoff = 1, maxIntervalMs = Number.POSITIVE_INFINITY }: Waits, number: number): number {
  return Math.round(Math.min(intervalMs * backoff ** (number - 1), maxIntervalMs));
}

/** The retries of a run by a daemon. */
type AutoRetry = {
  /** The number of this retry; 0 for the first run. */
  readonly n: number;
  /** The maximum number of retries. */
  readonly limit: number;
  /** When the next retry is due, in milliseconds since the epoch; null if none follows. */
  readonly at: number | null;
};

/**
 * The retries of a run by a daemon; null if there are none: its workflow has no `retryPolicy`, or no daemon started it.
 * A retry follows a failed run, unless a person rejected a step.
 */
export function autoRetryOf(run: RunState): AutoRetry | null {
  const { autoRetry, status, finishedAt } = run;
  if (autoRetry === undefined) return null;
  const { n, limit } = autoRetry;
  const isRetried = status === 'failed' && n < limit && ![...steps(run)].some(({ reason }) => reason === 'rejected');
  return { n, limit, at: isRetried && finishedAt !== null ? finishedAt + waitMs(autoRetry, n + 1) : null };
}

/** When a run is late unless it has ended; null: never, or it is late already. */
export function lateTime(run: RunState): number | null {
  const { policies, startedAt, finishedAt, lateAt, startBy, lateBy } = run;
  if (lateAt !== undefined || finishedAt !== null) return null;
  const afterMs = policies.late?.afterMs;
  const after = startedAt === null || afterMs === undefined ? undefined : startedAt + afterMs;
  const times = [startedAt === null ? startBy : after, lateBy].flatMap((time) => time ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** Whether an attempt at the step only runs a program: before it starts, nothing is created but its logs and script. */
export function isOnlyProgram(step: Step): boolean {
  const { executor, command, script, env, preconditions, stdout, stderr, numbers, fanOut, service, approval, locks } =
    step;
  if (step.artifacts !== undefined || step.upToDate !== undefined) return false;
  if (executor.type !== 'command' || (command === null && script === null)) return false;
  if (env.length > 0 || preconditions.length > 0 || stdout !== null || stderr !== null) return false;
  return [numbers, fanOut, service, approval, locks].every((extra) => extra === undefined);
}

/**
 * Whether an attempt at the step can be prepared while independent steps run: neither does what follows from their ends
 * concern it, as the failure of another instance of its fan-out does, nor does its own end change the variables of others.
 */
export function mayStartAhead(step: Step): boolean {
  return isOnlyProgram(step) && step.output === null && step.published === undefined && step.instanceOf === undefined;
}
