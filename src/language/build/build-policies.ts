import { given } from '#core/data/collections.ts';
import { isNumberText } from '#core/step-numbers.ts';
import { parseSpan } from '#core/time-text.ts';
import type {
  FanOut,
  ItemScalar,
  ItemValue,
  Json,
  JsonObject,
  Lateness,
  Lock,
  Locking,
  NotifyNumberKey,
  NumberText,
  Precondition,
  RepeatPolicy,
  RetryPolicy,
  RunNumberKey,
  RunRetryPolicy,
  Step,
  Tolerance,
  Waits,
} from '#core/workflow.ts';
import {
  asList,
  isJsonObject,
  isList,
  type RawAction,
  type RawCondition,
  type RawConditions,
  type RawFanOut,
  type RawItem,
  type RawLateness,
  type RawLock,
  type RawLocks,
  type RawMatrix,
  type RawNotification,
  type RawNumber,
  type RawRepeat,
  type RawRetry,
  type RawSelector,
  type RawStep,
  type RawTolerance,
  type RawWaits,
  type RawWorkflow,
} from '../raw.ts';

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

/** `locks` in any of their forms. */
export function locksOf({ locks, lockTimeoutSec = 0 }: RawLocks): Locking {
  if (locks === undefined) return {};
  const all = asList<RawLock>(locks).map((raw): Lock => {
    const { name = '', slots = 1, mode = 'write' } = typeof raw === 'string' ? { name: raw } : raw;
    return { name, slots, mode };
  });
  if (all.length === 0) return {};
  return { locks: all, ...(lockTimeoutSec === 0 ? {} : { lockTimeoutMs: toMs(lockTimeoutSec) }) };
}

/** `workerSelector` in any of its forms; empty for any worker. */
export function selectorOf(raw: RawSelector | undefined): Pick<Step, 'workerSelector'> {
  return typeof raw === 'object' && Object.keys(raw).length > 0 ? { workerSelector: raw } : {};
}

/** `continueOn` as a map, or as the text `failed` or `skipped`. */
export function toleranceOf(raw: string | RawTolerance | undefined): Tolerance {
  if (typeof raw === 'string') return { failure: raw === 'failed', skipped: raw === 'skipped' };
  const { failure = false, skipped = false, exitCode, output, markSuccess } = raw ?? {};
  return {
    failure,
    skipped,
    ...given({ exitCodes: fixedNumbers(exitCode), output: output === undefined ? output : asList(output) }),
    ...(markSuccess === true ? { markSuccess } : {}),
  };
}

/** `retryPolicy` with its defaults. */
export function retryOf(raw: RawRetry | undefined): RetryPolicy {
  return {
    limit: fixedNumber(raw?.limit) ?? 0,
    ...waitsOf(raw ?? {}),
    ...given({ exitCodes: fixedNumbers(raw?.exitCode), jitter: fixedNumber(raw?.jitter) || undefined }),
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
  const condition = raw.condition === undefined ? undefined : preconditionOf(raw);
  return {
    ...waitsOf(raw),
    ...(mode === 'always' ? {} : { mode }),
    ...given({ condition, exitCodes: fixedNumbers(raw.exitCode), limit: fixedNumber(raw.limit) }),
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
    ...given({ backoff: factor, maxIntervalMs: longest === undefined ? longest : toMs(longest) }),
  };
}

/** The number of a key; undefined if it has none, or a variable gives it. */
export function fixedNumber(value: RawNumber | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The numbers of a list without those that a variable gives; undefined without a list. */
function fixedNumbers(value: RawNumber | readonly RawNumber[] | undefined): number[] | undefined {
  return value === undefined ? value : asList(value).filter((one) => typeof one === 'number');
}

/** The numbers of a step that a variable gives, as a part of the step. */
export function numberTextsOf(raw: RawAction & RawItems): { readonly numbers?: readonly NumberText[] } {
  const { timeoutSec, continueOn, retryPolicy: retry, repeatPolicy: repeat, service, approval } = raw;
  const fanOut = rawFanOut(raw);
  const holders = timeoutSec ?? continueOn ?? retry ?? repeat ?? service ?? approval ?? fanOut;
  // Most steps have none of them.
  if (holders === undefined || holders === null) return {};
  const numbers = [
    ...texts('timeoutSec', timeoutSec),
    ...texts('continueOn.exitCode', typeof continueOn === 'object' ? continueOn.exitCode : undefined),
    ...(['limit', 'intervalSec', 'maxIntervalSec', 'backoff', 'jitter', 'exitCode'] as const).flatMap((key) =>
      texts(`retryPolicy.${key}`, retry?.[key]),
    ),
    ...(['limit', 'intervalSec', 'maxIntervalSec', 'backoff', 'exitCode'] as const).flatMap((key) =>
      texts(`repeatPolicy.${key}`, repeat?.[key]),
    ),
    ...texts('parallel.maxConcurrent', fanOut?.maxConcurrent),
    ...(['intervalSec', 'timeoutSec'] as const).flatMap((key) =>
      texts(`service.${key}`, typeof service === 'object' ? service[key] : undefined),
    ),
    ...texts('approval.timeoutSec', typeof approval === 'object' ? approval.timeoutSec : undefined),
  ];
  return numbers.length === 0 ? {} : { numbers };
}

/** `late` of a workflow in either form. */
export function latenessOf(late: RawLateness | undefined): Lateness | undefined {
  if (late === undefined) return late;
  const { after, by, warn } = typeof late === 'string' ? { after: late } : late;
  return {
    ...given({ afterMs: after === undefined ? after : (parseSpan(after) ?? undefined), by }),
    ...(warn === 'only' ? { isQuiet: true } : {}),
  };
}

/** The numbers of a workflow that a variable gives, as a part of the workflow. */
export function runNumberTextsOf(raw: { readonly [key in RunNumberKey]?: RawWorkflow[key] | undefined }): {
  readonly numbers?: readonly NumberText<RunNumberKey>[];
} {
  const keys = ['timeoutSec', 'delaySec', 'maxActiveSteps', 'maxOutputSize'] as const;
  const numbers = keys.flatMap((key) => texts(key, raw[key]));
  return numbers.length === 0 ? {} : { numbers };
}

/** The numbers of a notification that a variable gives, as a part of the notification. */
export function notifyNumberTextsOf(raw: RawNotification): {
  readonly numbers?: readonly NumberText<NotifyNumberKey>[];
} {
  const numbers = (['lines', 'timeoutSec'] as const).flatMap((key) => texts(`notify.${key}`, raw[key]));
  return numbers.length === 0 ? {} : { numbers };
}

function texts<Key extends string>(
  key: Key,
  value: boolean | RawNumber | readonly RawNumber[] | undefined,
): NumberText<Key>[] {
  return asList(value).flatMap((text) => (isNumberText(text) ? [{ key, text }] : []));
}

/** The keys of a step that make it a fan-out. */
export type RawItems = Pick<RawStep, 'parallel' | 'matrix'>;

/** Default concurrency of a fan-out. */
const DEFAULT_CONCURRENT = 10;

/** `parallel` and `matrix` in any of their forms; null for a step that runs once. */
export function fanOutOf(raw: RawItems): FanOut | null {
  const { items, matrix, glob, lines, maxConcurrent, failFast = false } = rawFanOut(raw) ?? {};
  const policy = { maxConcurrent: typeof maxConcurrent === 'number' ? maxConcurrent : DEFAULT_CONCURRENT, failFast };
  if (matrix !== undefined) return { items: combinations(matrix), isMatrix: true, ...policy };
  if (glob !== undefined) return { items: asList(glob).join('\n'), from: 'glob', ...policy };
  if (lines !== undefined) return { items: lines, from: 'lines', ...policy };
  if (items === undefined) return null;
  const itemOf = (item: RawItem) => (isJsonObject(item) ? combinationOf(item) : scalarOf(item));
  return { items: typeof items === 'string' ? items : items.map(itemOf), ...policy };
}

/** `parallel` as a map, with a `matrix` of the step in it; null for a step that has neither. */
export function rawFanOut({ parallel, matrix }: RawItems): RawFanOut | null {
  if (parallel === undefined) return matrix === undefined ? null : { matrix };
  return typeof parallel === 'string' || isList(parallel) ? { items: parallel } : parallel;
}

/**
 * The combinations of a matrix, as in GitHub Actions: without those that match an entry of `exclude`; each entry of
 * `include` is added to the combinations of whose axes it changes none, else it is a combination of its own.
 */
export function combinations({ exclude = [], include = [], ...axes }: RawMatrix): ItemValue[] {
  let all: Combination[] = Object.keys(axes).length === 0 ? [] : [{}];
  for (const [axis, values] of Object.entries(axes)) {
    all = all.flatMap((one) => values.map((value) => ({ ...one, [axis]: scalarOf(value) })));
  }
  const excluded = exclude.map(combinationOf);
  const made = all.filter(
    (one) => !excluded.some((entry) => Object.keys(entry).every((axis) => one[axis] === entry[axis])),
  );
  const added = made.map((one) => ({ ...one }));
  for (const entry of include.map(combinationOf)) {
    const agrees = (one: Combination) =>
      Object.entries(entry).every(([axis, value]) => !Object.hasOwn(one, axis) || one[axis] === value);
    const changed = made.flatMap((one, index) => (agrees(one) ? [index] : []));
    for (const index of changed) Object.assign(added[index] ?? {}, entry);
    if (changed.length === 0) added.push(entry);
  }
  return added;
}

type Combination = Record<string, ItemScalar>;

function combinationOf(map: JsonObject): Combination {
  return Object.fromEntries(Object.entries(map).map(([field, value]) => [field, scalarOf(value)]));
}

function scalarOf(value: Json): ItemScalar {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
