import type { Precondition, RepeatPolicy, RetryPolicy, RunRetryPolicy, Tolerance, Waits } from '#core/workflow.ts';
import type { RawCondition, RawConditions, RawRepeat, RawRetry, RawTolerance, RawWaits } from '../raw.ts';
import { asList } from '../raw.ts';
import { fixedNumber, fixedNumbers } from './number-texts.ts';

/** The factor of `backoff: true`, and the longest wait of a backoff without `maxIntervalSec`. */
const DEFAULT_BACKOFF = 2;
const DEFAULT_MAX_INTERVAL_SEC = 86_400;

/** Converts seconds, possibly with a fraction, to milliseconds. */
export function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** `preconditions` in any of their forms. */
export function preconditionsOf(conditions: RawConditions | undefined): Precondition[] {
  return asList(conditions).map(preconditionOf);
}

function preconditionOf(raw: RawCondition): Precondition {
  const { condition = '', expected = null, negate } = typeof raw === 'string' ? { condition: raw } : raw;
  return { condition, expected, ...(negate === true ? { negate } : {}) };
}

/** `continueOn` as a map, or as the text `failed` or `skipped`. */
export function toleranceOf(raw: string | RawTolerance | undefined): Tolerance {
  if (typeof raw === 'string') return { failure: raw === 'failed', skipped: raw === 'skipped' };
  const { failure = false, skipped = false, exitCode, output, markSuccess } = raw ?? {};
  return {
    failure,
    skipped,
    ...(exitCode === undefined ? {} : { exitCodes: fixedNumbers(exitCode) }),
    ...(output === undefined ? {} : { output: asList(output) }),
    ...(markSuccess === true ? { markSuccess } : {}),
  };
}

/** `retryPolicy` with its defaults. */
export function retryOf(raw: RawRetry | undefined): RetryPolicy {
  const { exitCode } = raw ?? {};
  const jitter = fixedNumber(raw?.jitter) ?? 0;
  return {
    limit: fixedNumber(raw?.limit) ?? 0,
    ...waitsOf(raw ?? {}),
    ...(exitCode === undefined ? {} : { exitCodes: fixedNumbers(exitCode) }),
    ...(jitter === 0 ? {} : { jitter }),
  };
}

/** `retryPolicy` of a workflow; absent if it retries nothing. */
export function runRetryOf(raw: RawWaits | undefined): { readonly retry?: RunRetryPolicy } {
  const limit = fixedNumber(raw?.limit) ?? 0;
  return raw === undefined || limit === 0 ? {} : { retry: { limit, ...waitsOf(raw) } };
}

/** `repeatPolicy` with its defaults; null if the step runs once. */
export function repeatOf(raw: RawRepeat | undefined): RepeatPolicy | null {
  const mode = raw === undefined ? 'once' : repeatMode(raw);
  if (raw === undefined || mode === 'once') return null;
  const { condition, exitCode } = raw;
  const limit = fixedNumber(raw.limit);
  return {
    ...waitsOf(raw),
    ...(mode === 'always' ? {} : { mode }),
    ...(condition === undefined ? {} : { condition: preconditionOf(raw) }),
    ...(exitCode === undefined ? {} : { exitCodes: fixedNumbers(exitCode) }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Without `repeat`, a condition with `expected` means `until`; any other condition, or `exitCode`, means `while`. */
function repeatMode({ repeat, condition, expected, exitCode }: RawRepeat): 'once' | 'always' | 'while' | 'until' {
  const hasTest = condition !== undefined || exitCode !== undefined;
  if (repeat === 'while' || repeat === 'until') return repeat;
  if (repeat === true) return hasTest ? 'while' : 'always';
  if (repeat === false || !hasTest) return 'once';
  return condition !== undefined && expected !== undefined ? 'until' : 'while';
}

function waitsOf({ intervalSec, backoff = false, maxIntervalSec }: RawWaits): Waits {
  const factor = typeof backoff === 'boolean' ? (backoff ? DEFAULT_BACKOFF : undefined) : fixedNumber(backoff);
  const longest = fixedNumber(maxIntervalSec) ?? (backoff === false ? undefined : DEFAULT_MAX_INTERVAL_SEC);
  return {
    intervalMs: toMs(fixedNumber(intervalSec) ?? 0),
    ...(factor === undefined ? {} : { backoff: factor }),
    ...(longest === undefined ? {} : { maxIntervalMs: toMs(longest) }),
  };
}
