import { given } from '#core/data/collections.ts';
import type { Param } from '#core/run/run.ts';
import { isCalendarDay } from '#core/time-text.ts';
import { parseParams } from '#language/formats.ts';
import type { History, PastRun } from '#service/history.ts';
import type { LiveChanges, LogReceiver, RunFeeds, ServedBackfills } from '#service/served.ts';
import type { Service } from '#service/service.ts';
import type { Clock } from '#system/clock.ts';
import { tryOr, WfError } from '#system/errors.ts';
import type { LoopLag } from '../connection/load-limits.ts';
import type { Bodies } from '../generated/requests.mjs';
import { type ApiRequest, HttpError, type Reply } from '../route.ts';
import type { V1Parts } from '../v1/v1-parts.ts';

/** A scheduled action at a time; `file` is the absolute path of the workflow. */
type ScheduledMoment = { readonly file: string; readonly kind: string; readonly at: Date };

/** The dependencies of the v2 API. */
export type V2Parts = Pick<V1Parts, 'workflows' | 'runIndex' | 'runs' | 'searchLines'> & {
  readonly history: Pick<
    History,
    'read' | 'find' | 'withWaits' | 'knowsWorkflow' | 'list' | 'positionOf' | 'countByHour' | 'summarize'
  >;
  readonly feeds: RunFeeds;
  /** Stores a piece of a log of an engine's run; resolves to the bytes that are stored. Throws `not-found`, `conflict`. */
  readonly storeLog: LogReceiver;
  readonly changes: LiveChanges;
  readonly clock: Clock;
  /** A mark that changes with each event of a run; reading it reads no events. */
  readonly runStamp: (runId: string) => string;
  readonly removeRun: (runId: string) => Promise<number>;
  /** The runs that take a place and those in the queue, in their order. */
  readonly queue: () => {
    readonly limit: number;
    readonly running: readonly string[];
    readonly waiting: readonly string[];
  };
  /** The limit of a named queue, and the number of runs in it. */
  readonly queueNamed: (name: string) => { readonly limit: number; readonly waiting: number };
  /** The locks and queues in use. */
  readonly locks: Service['locks'];
  readonly backfills: ServedBackfills;
  /** Makes a queued run the next one to start; false if it is not queued. */
  readonly putFirst: (runId: string) => boolean;
  /** The scheduled actions between two times, at most `limit`, in the order of time. */
  readonly moments: (from: number, to: number, limit: number) => Promise<readonly ScheduledMoment[]>;
  readonly missed: () => number;
  /** Version, process and time zone of the daemon. */
  readonly info: () => object;
  readonly loopLag: () => LoopLag;
  /** The space where runs are stored; null if it is unknown. */
  readonly disk: () => Promise<object | null>;
  readonly settings: () => object;
  /** Starts with a slash and ends without one, or is empty. */
  readonly basePath: string;
};

/** Answers a request to a route of the v2 API. */
export type V2Handler = (request: ApiRequest, parts: V2Parts) => Promise<Reply> | Reply;

/**
 * Returns the run that a path names: by its id, a unique prefix of the id, `@latest` or `@failed`. A workflow name is
 * not accepted, since its last run may change between two requests. Throws a `WfError`: `not-found`, or `usage` for the
 * prefix of several ids.
 */
export async function namedRun(word: string, { history }: Pick<V2Parts, 'history'>): Promise<PastRun> {
  const exact = await history.read(word);
  if (exact !== null) return exact;
  const run = await history.find(word);
  if (word === '@latest' || word === '@failed') return run;
  // The ids of runs often begin with the name of their workflow.
  if (run.runId.startsWith(word) && !history.knowsWorkflow(word)) return run;
  throw new WfError('not-found', `there is no run "${word}"`, {
    help: 'GET /api/v2/runs?workflow= finds runs by name',
  });
}

/**
 * Returns the id of the run to remove. Only the complete id is accepted: a request that is repeated after the run was
 * removed must not remove another one, such as `etl-10` for `etl-1`. Throws a `WfError` `not-found`.
 */
export async function runIdToRemove(id: string, { history }: Pick<V2Parts, 'history'>): Promise<string> {
  if ((await history.read(id)) !== null) return id;
  throw new WfError('not-found', `there is no run "${id}"`, { help: 'to remove a run, give its complete id' });
}

/** Encodes the position of a listing as an opaque text. */
export function toCursor(position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** Decodes a cursor; null for null. Throws an `HttpError` 400 for an invalid text. */
export function readCursor(text: string | null): readonly unknown[] | null {
  if (text === null) return null;
  const position: unknown = tryOr(null, () => JSON.parse(Buffer.from(text, 'base64url').toString()));
  if (Array.isArray(position)) return position;
  throw badCursor();
}

/** Creates the error for an unknown cursor. */
export function badCursor(): HttpError {
  return new HttpError(400, 'unknown cursor', { help: 'leave it out to begin at the start' });
}

/** Reads a parameter that is a timestamp in ISO 8601, as milliseconds. Throws an `HttpError` 400. */
export function readMoment(name: string, text: string | null): number | null {
  if (text === null) return null;
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text);
  const at = isMoment ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new HttpError(400, `"${name}" is not a timestamp`, {
      help: 'a timestamp is 2026-03-01T12:00:00Z, with its zone, or 2026-03-01 for the start of that day in UTC',
    });
  }
  if (isCalendarDay(text.slice(0, 10))) return at;
  throw new HttpError(400, `"${name}" cannot be "${text}"`, { help: 'that month has fewer days' });
}

type Period<At> = { readonly from: At; readonly to: At };

/** Throws an `HttpError` 400 for a period that ends before it begins, which nothing can be in; null is an open end. */
export function requirePeriod<At extends number | null>({ from, to }: Period<At>): Period<At> {
  if (from === null || to === null || from <= to) return { from, to };
  throw new HttpError(400, '"to" is before "from"', { help: '"from" is the start of the period, "to" its end' });
}

const NAMED = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/;

type Given = NonNullable<Bodies['startRun']['params']>;

/** Converts the parameters of a body. Null, or an empty text: the defaults apply; an empty list or map: no parameters. */
export function readParams(given: Given | null): readonly Param[] | null {
  if (given === null) return null;
  if (typeof given === 'string') return given.trim() === '' ? null : parseParams(given);
  if (Array.isArray(given)) return (given as List).map(entryOfList);
  return Object.entries(given).map(([name, value]) => ({ name, value: String(value) }));
}

type List = Extract<Given, readonly unknown[]>;

function entryOfList(entry: List[number]): Param {
  if (typeof entry !== 'string') {
    const { name = null, value, masked } = entry;
    return { name, value, ...given({ masked }) };
  }
  const [, name = null, value = entry] = NAMED.exec(entry) ?? [];
  return { name, value };
}
