import type { Step, Waits } from '../workflow.ts';
import { type AttemptResult, attemptResult } from './outcome.ts';
import type { AttemptFacts, Outcome, ToleratedBy } from './run.ts';
import { type RunState, type StepState, steps } from './run-state.ts';

/** The consequence of the end of an attempt: another attempt after a wait, or the end of the step. */
type FollowUp =
  | { readonly why: 'retry' | 'repeat'; readonly waitMs: number; readonly tolerated: ToleratedBy | null }
  | { readonly why: null; readonly result: AttemptResult; readonly tolerated: ToleratedBy | null };

/** The exit code of a step that was ended by its time limit, as of the program `timeout`. */
const TIMEOUT_EXIT_CODE = 124;

/**
 * Applies the policies of a step to the outcome of its attempt: retries first, then repetitions, then `continueOn`.
 * `state` is the state before the end of the attempt.
 */
export function followUp(step: Step, state: StepState, outcome: Outcome, facts: AttemptFacts = {}): FollowUp {
  if (isRetried(step, state, outcome)) {
    const { retry } = step;
    const share = 1 - (retry.jitter ?? 0) * (facts.random ?? 0);
    return { why: 'retry', waitMs: Math.round(waitMs(retry, state.retries + 1) * share), tolerated: null };
  }
  const repetition = state.repetitions + 1;
  const next = step.repeat === null ? 'end' : nextRepetition(step, repetition, outcome, facts);
  if (step.repeat !== null && next === 'repeat') {
    const tolerated = toleratedBy(step, outcome, facts);
    return { why: 'repeat', waitMs: waitMs(step.repeat, repetition), tolerated };
  }
  return { why: null, ...lastResult(step, next === 'unmet' ? unmet(outcome, repetition) : outcome, facts) };
}

/** The result of a step without further attempts, after its `continueOn`. */
export function lastResult(
  step: Step,
  outcome: Outcome,
  facts: AttemptFacts = {},
): { readonly result: AttemptResult; readonly tolerated: ToleratedBy | null } {
  const result = attemptResult(outcome);
  const tolerated = toleratedBy(step, outcome, facts);
  const succeeds = tolerated !== null && step.continueOn.markSuccess === true;
  return { result: succeeds ? { ...result, status: 'succeeded', reason: null, message: '' } : result, tolerated };
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

/** `unmet`: the condition was never met within the limit. */
function nextRepetition(
  step: Step,
  repetition: number,
  outcome: Outcome,
  facts: AttemptFacts,
): 'repeat' | 'end' | 'unmet' {
  const { mode, limit = Number.POSITIVE_INFINITY } = step.repeat ?? {};
  if (!hasEnded(outcome)) return 'end';
  const isWanted =
    mode === undefined
      ? outcome.status === 'succeeded' || toleratedBy(step, outcome, facts) !== null
      : isConditionMet(step, outcome, facts) === (mode === 'while');
  if (!isWanted) return 'end';
  if (repetition < limit) return 'repeat';
  return mode === 'until' ? 'unmet' : 'end';
}

/** Null: the condition could not be evaluated, which is the outcome. */
function isConditionMet({ repeat }: Step, outcome: Outcome, { conditionMet }: AttemptFacts): boolean | null {
  if (repeat?.condition !== undefined) return conditionMet ?? null;
  const code = exitCodeOf(outcome);
  return code !== null && repeat?.exitCodes?.includes(code) === true;
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
  const isRetried = status === 'failed' && n < limit && !isRejected(run);
  return { n, limit, at: isRetried && finishedAt !== null ? finishedAt + waitMs(autoRetry, n + 1) : null };
}

function isRejected(run: RunState): boolean {
  for (const { reason } of steps(run)) if (reason === 'rejected') return true;
  return false;
}

/**
 * Whether an attempt at the step only runs a program: before it starts, nothing is created but its logs and the script file.
 */
export function isOnlyProgram(step: Step): boolean {
  const { executor, command, script, env, preconditions, stdout, stderr, numbers, fanOut, service, approval } = step;
  if (executor.type !== 'command' || (command === null && script === null)) return false;
  if (env.length > 0 || preconditions.length > 0 || stdout !== null || stderr !== null) return false;
  return [numbers, fanOut, service, approval].every((extra) => extra === undefined);
}

/**
 * Whether an attempt at the step can be prepared while independent steps run: neither does what follows from their ends
 * concern it, as the failure of another instance of its fan-out does, nor does its own end change the variables of others.
 */
export function mayStartAhead(step: Step): boolean {
  return isOnlyProgram(step) && step.output === null && step.published === undefined && step.instanceOf === undefined;
}
