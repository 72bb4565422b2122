import type { ClientSettings } from '#config/part-settings.ts';
import { given } from '#core/data/collections.ts';
import {
  type DotenvUse,
  type FailureReason,
  type Outputs,
  type Param,
  type RunReason,
  runStatuses,
  stepStatuses,
  type Trigger,
} from '#core/run/run.ts';
import type {
  ApprovalSummary,
  BlockedSummary,
  CacheSummary,
  Failure,
  HolderSummary,
  InstanceSummary,
  RunSummary,
  StepSummary,
} from '#core/summary/summary.ts';
import type { ItemValue } from '#core/workflow.ts';
import type { BackfillView, MomentState } from '#service/backfill.ts';
import type { LockEntry, LockUse } from '#service/service.ts';
import { type JsonMap, numberIn, objectIn, objectsIn, textIn, textsIn } from './json-fields.ts';
import { notUnderstood } from './problem-error.ts';

/** A required field is missing, or has the wrong type. */
class Unreadable extends Error {}

/**
 * Parses a run sent by a daemon. Unknown fields are dropped; missing optional fields are null or empty. Throws a
 * `WfError` `unreachable` if a required field is missing or has the wrong type.
 */
export function readSummary(run: JsonMap, settings: ClientSettings): RunSummary {
  return understood(settings, () => readRun(run));
}

/** Parses a lock sent by a daemon. Throws as `readSummary` does. */
export function readLock(lock: JsonMap, settings: ClientSettings): LockEntry {
  return understood(settings, () => readLockEntry(lock));
}

/** Parses a backfill sent by a daemon. Throws as `readSummary` does. */
export function readBackfill(backfill: JsonMap, settings: ClientSettings): BackfillView {
  return understood(settings, () => {
    const counts = objectIn(backfill, 'counts') ?? {};
    const count = (state: MomentState) => numberIn(counts, state) ?? 0;
    return {
      id: required(backfill, 'id'),
      workflow: required(backfill, 'workflow'),
      file: required(backfill, 'file'),
      from: timeIn(backfill, 'from') ?? required(backfill, 'from'),
      to: timeIn(backfill, 'to') ?? required(backfill, 'to'),
      timeZone: textIn(backfill, 'timeZone'),
      every: textIn(backfill, 'every'),
      max: numberIn(backfill, 'max') ?? 1,
      rerun: wordIn(backfill, 'rerun', ['failed', 'all']),
      counts: { done: count('done'), failed: count('failed'), running: count('running'), left: count('left') },
      moments: objectsIn(backfill, 'moments').map((moment) => ({
        scheduledFor: timeIn(moment, 'scheduledFor') ?? required(moment, 'scheduledFor'),
        state: wordIn(moment, 'state', momentStates) ?? 'left',
        runId: textIn(moment, 'runId'),
        status: runStatuses.find((status) => status === moment['status']) ?? null,
        error: textIn(moment, 'error'),
        durationMs: numberIn(moment, 'durationMs'),
      })),
      ...given({
        createdAt: timeIn(backfill, 'createdAt'),
        stopped: flagIn(backfill, 'stopped'),
        error: textIn(backfill, 'error'),
      }),
      finishedAt: timeIn(backfill, 'finishedAt'),
    };
  });
}

const momentStates = ['done', 'failed', 'running', 'left'] as const satisfies readonly MomentState[];

function understood<T>(settings: ClientSettings, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Unreadable ? notUnderstood(settings, error.message) : error;
  }
}

function readRun(run: JsonMap): RunSummary {
  const owner = objectIn(run, 'owner');
  const retry = objectIn(run, 'autoRetry');
  const blocked = objectIn(run, 'blocked');
  const hasFailures = Array.isArray(run['failures']);
  return {
    runId: required(run, 'runId'),
    workflow: required(run, 'workflow'),
    group: textIn(run, 'group') ?? '',
    file: textIn(run, 'file'),
    status: statusIn(run, runStatuses),
    reason: textIn(run, 'reason') as RunReason | null,
    error: textIn(run, 'error'),
    trigger: (textIn(run, 'trigger') ?? 'api') as Trigger,
    retryOf: textIn(run, 'retryOf'),
    scheduledFor: timeIn(run, 'scheduledFor'),
    params: objectsIn(run, 'params').map(readParam),
    owner: owner && { pid: numberIn(owner, 'pid') ?? 0, host: textIn(owner, 'host') ?? '' },
    createdAt: timeIn(run, 'createdAt') ?? required(run, 'createdAt'),
    startedAt: timeIn(run, 'startedAt'),
    finishedAt: timeIn(run, 'finishedAt'),
    durationMs: numberIn(run, 'durationMs'),
    steps: objectsIn(run, 'steps').map(readStep),
    handlers: objectsIn(run, 'handlers').map(readStep),
    warnings: textsIn(run, 'warnings'),
    ...given({
      strict: flagIn(run, 'strict'),
      backfill: textIn(run, 'backfill'),
      tags: textsOrNull(run, 'tags'),
      queue: textIn(run, 'queue'),
      blocked: blocked && { why: wordIn(blocked, 'why', ['lock', 'queue']) ?? 'lock', ...readBlocked(blocked) },
      autoRetry: retry && {
        n: numberIn(retry, 'n') ?? 0,
        limit: numberIn(retry, 'limit') ?? 0,
        at: textIn(retry, 'at'),
      },
      lateSince: timeIn(run, 'lateSince'),
      dotenv: Array.isArray(run['dotenv']) ? objectsIn(run, 'dotenv').map(readDotenv) : null,
      waitingFor: textsOrNull(run, 'waitingFor'),
      failures: hasFailures ? objectsIn(run, 'failures').map(readFailure) : null,
      moreFailures: hasFailures ? (numberIn(run, 'moreFailures') ?? 0) : null,
    }),
  };
}

const tolerances = ['failure', 'exitCode', 'output'] as const;

function readFailure(failure: JsonMap): Failure {
  const position = objectIn(failure, 'place') ?? {};
  const file = textIn(position, 'file');
  const [line, column] = [numberIn(position, 'line') ?? 1, numberIn(position, 'column') ?? 1];
  return {
    path: textsIn(failure, 'path'),
    runId: required(failure, 'runId'),
    step: required(failure, 'step'),
    key: textIn(failure, 'key'),
    reason: textIn(failure, 'reason') as FailureReason | null,
    error: textIn(failure, 'error') ?? 'failed',
    exitCode: numberIn(failure, 'exitCode'),
    signal: textIn(failure, 'signal'),
    attempts: numberIn(failure, 'attempts') ?? 0,
    ...given({ tolerated: wordIn(failure, 'tolerated', tolerances), kept: flagIn(failure, 'kept') }),
    place: file === null ? null : { file, line, column },
    lines: textsIn(failure, 'lines'),
    log: textIn(failure, 'log'),
    command: textIn(failure, 'command'),
    ...given({ note: textIn(failure, 'note') }),
  };
}

function readStep(step: JsonMap): StepSummary {
  const container = objectIn(step, 'container') ?? {};
  const id = textIn(container, 'id');
  const service = objectIn(step, 'service');
  const approval = objectIn(step, 'approval');
  const cache = objectIn(step, 'cache');
  const blocked = objectIn(step, 'blocked');
  return {
    name: required(step, 'name'),
    status: statusIn(step, stepStatuses),
    reason: textIn(step, 'reason') as FailureReason | null,
    error: textIn(step, 'error'),
    attempts: numberIn(step, 'attempts') ?? 0,
    exitCode: numberIn(step, 'exitCode'),
    signal: textIn(step, 'signal'),
    startedAt: timeIn(step, 'startedAt'),
    finishedAt: timeIn(step, 'finishedAt'),
    durationMs: numberIn(step, 'durationMs'),
    outputs: readOutputs(objectIn(step, 'outputs') ?? {}),
    log: textIn(step, 'log'),
    ...given({
      lateSince: timeIn(step, 'lateSince'),
      upToDate: flagIn(step, 'upToDate'),
      cache: cache && readCache(cache),
      container: id === null ? null : { id, image: textIn(container, 'image') },
      service: service && { ready: service['ready'] === true },
      child: textIn(step, 'child'),
      worker: textIn(step, 'worker'),
      tolerated: wordIn(step, 'tolerated', tolerances),
      repetitions: numberIn(step, 'repetitions'),
      waitingFor: wordIn(step, 'waitingFor', ['retry', 'repeat', 'approval', 'lock', 'queue']),
      blocked: blocked && readBlocked(blocked),
      approval: approval && readApproval(approval),
      items: Array.isArray(step['items']) ? objectsIn(step, 'items').map(readInstance) : null,
    }),
  };
}

const staleKinds = ['source', 'command', 'variable', 'output', 'missing', 'forced'] as const;

function readCache(cache: JsonMap): CacheSummary {
  return {
    hit: cache['hit'] === true,
    reason: objectsIn(cache, 'reason').flatMap((reason) => {
      const kind = wordIn(reason, 'kind', staleKinds);
      const change = wordIn(reason, 'change', ['added', 'removed'] as const);
      return kind === null ? [] : [{ kind, name: textIn(reason, 'name') ?? '', ...given({ change }) }];
    }),
    ...given({ more: numberIn(cache, 'more') }),
    from: textIn(cache, 'from'),
    ...given({ savedMs: numberIn(cache, 'savedMs'), restored: flagIn(cache, 'restored') }),
  };
}

function readBlocked(blocked: JsonMap): BlockedSummary {
  const holder = objectIn(blocked, 'holder');
  return {
    name: required(blocked, 'name'),
    since: timeIn(blocked, 'since') ?? required(blocked, 'since'),
    holder: holder && readHolder(holder),
  };
}

function readHolder(holder: JsonMap): HolderSummary {
  return {
    runId: required(holder, 'runId'),
    workflow: required(holder, 'workflow'),
    step: textIn(holder, 'step'),
    since: timeIn(holder, 'since') ?? required(holder, 'since'),
    ...given({ unknown: textIn(holder, 'unknown') }),
  };
}

function readLockEntry(lock: JsonMap): LockEntry {
  const within = objectIn(lock, 'within');
  const use = (user: JsonMap): LockUse => ({
    ...readHolder(user),
    mode: wordIn(user, 'mode', ['read', 'write']) ?? 'write',
    slots: numberIn(user, 'slots') ?? 1,
  });
  return {
    kind: wordIn(lock, 'kind', ['lock', 'queue']) ?? 'lock',
    name: required(lock, 'name'),
    slots: numberIn(lock, 'slots') ?? 1,
    ...(lock['within'] === undefined ? {} : { within: within && withinOf(within) }),
    holders: objectsIn(lock, 'holders').map(use),
    waiters: objectsIn(lock, 'waiters').map((user, index) => ({ ...use(user), place: index + 1 })),
  };
}

function withinOf(holder: JsonMap): NonNullable<LockEntry['within']> {
  return { runId: required(holder, 'runId'), workflow: required(holder, 'workflow'), step: textIn(holder, 'step') };
}

function readInstance(instance: JsonMap, position: number): InstanceSummary {
  return {
    key: textIn(instance, 'key') ?? '',
    index: numberIn(instance, 'index') ?? position,
    item: (instance['item'] ?? '') as ItemValue,
    ...readStep(instance),
  };
}

function readApproval(approval: JsonMap): ApprovalSummary {
  return {
    prompt: textIn(approval, 'prompt') ?? '',
    input: objectsIn(approval, 'input') as object[] as ApprovalSummary['input'],
    allowed: textsIn(approval, 'allowed'),
    since: timeIn(approval, 'since'),
    until: timeIn(approval, 'until'),
    answer: wordIn(approval, 'answer', ['approved', 'rejected']),
    by: textIn(approval, 'by'),
    at: timeIn(approval, 'at'),
    comment: textIn(approval, 'comment'),
  };
}

function readDotenv(file: JsonMap): DotenvUse {
  const option = flagIn(file, 'option');
  return { path: textIn(file, 'path') ?? '', names: textsIn(file, 'names'), ...given({ option }) };
}

function readParam(param: JsonMap): Param {
  const masked = flagIn(param, 'masked');
  return { name: textIn(param, 'name'), value: textIn(param, 'value') ?? '', ...given({ masked }) };
}

function readOutputs(outputs: JsonMap): Outputs {
  return Object.fromEntries(
    Object.entries(outputs).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function flagIn(from: JsonMap, field: string): true | null {
  return from[field] === true ? true : null;
}

function textsOrNull(from: JsonMap, field: string): readonly string[] | null {
  return Array.isArray(from[field]) ? textsIn(from, field) : null;
}

/** One of these words; words of a later version are dropped. */
function wordIn<const Word extends string>(from: JsonMap, field: string, words: readonly Word[]): Word | null {
  return words.find((word) => word === from[field]) ?? null;
}

function required(from: JsonMap, field: string): string {
  const text = textIn(from, field);
  if (text !== null) return text;
  throw new Unreadable(`there is no "${field}" in it`);
}

/** Reads a time in ISO 8601. An invalid time is rejected here, since every table would fail on it. */
function timeIn(from: JsonMap, field: string): string | null {
  const text = textIn(from, field);
  if (text === null || !Number.isNaN(Date.parse(text))) return text;
  throw new Unreadable(`its "${field}" is not a time`);
}

function statusIn<Status extends string>(from: JsonMap, known: readonly Status[]): Status {
  const status = required(from, 'status');
  const found = known.find((one) => one === status);
  if (found !== undefined) return found;
  throw new Unreadable(`this version does not know the status ${JSON.stringify(status)}`);
}
