import type { History } from '#service/history/history.ts';
import type { PastRun } from '#service/history/past-run.ts';
import type { LiveChanges, RunFeeds } from '#service/served.ts';
import type { Clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { LoopLag } from '../connection/loop-lag.ts';
import type { V1Parts } from '../v1/v1-parts.ts';

/** A scheduled action at a time; `file` is the absolute path of the workflow. */
type ScheduledMoment = { readonly file: string; readonly kind: string; readonly at: Date };

/** The dependencies of the v2 API. */
export type V2Parts = Pick<V1Parts, 'workflows' | 'runIndex' | 'runs' | 'searchLines'> & {
  readonly history: Pick<History, 'read' | 'find' | 'knowsWorkflow' | 'list' | 'placeOf' | 'countByHour' | 'summarize'>;
  readonly feeds: RunFeeds;
  /** The changes of all runs and workflows. */
  readonly changes: LiveChanges;
  readonly clock: Clock;
  /** A mark that changes with each event of a run; reading it reads no events. */
  readonly runStamp: (runId: string) => string;
  /** Removes a finished run. */
  readonly removeRun: (runId: string) => Promise<number>;
  /** The runs that take a place and those in the queue, in their order. */
  readonly queue: () => {
    readonly limit: number;
    readonly running: readonly string[];
    readonly waiting: readonly string[];
  };
  /** The limit of a named queue, and the number of runs in it. */
  readonly queueNamed: (name: string) => { readonly limit: number; readonly waiting: number };
  /** Makes a queued run the next one to start; false if it is not queued. */
  readonly putFirst: (runId: string) => boolean;
  /** The scheduled actions between two times, at most `limit`, in the order of time. */
  readonly moments: (from: number, to: number, limit: number) => Promise<readonly ScheduledMoment[]>;
  /** The number of missed scheduled times. */
  readonly missed: () => number;
  /** Version, process and time zone of the daemon. */
  readonly info: () => object;
  /** The delay of the event loop of the daemon. */
  readonly loopLag: () => LoopLag;
  /** The space where runs are stored; null if it is unknown. */
  readonly disk: () => Promise<object | null>;
  /** The settings, as in `wf config`. */
  readonly settings: () => object;
  /** Starts with a slash and ends without one, or is empty. */
  readonly basePath: string;
};

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
