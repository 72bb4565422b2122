import type { Clock } from '../../engine/clock.ts';
import { WfError } from '../../errors.ts';
import type { History } from '../../service/history/history.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import type { LiveChanges, RunFeeds } from '../../service/served.ts';
import type { V1Parts } from '../v1/v1-parts.ts';

/** What a schedule does at a moment; `file` is the absolute path of the workflow. */
type ScheduledMoment = { readonly file: string; readonly kind: string; readonly at: Date };

/** What the v2 API works with. */
export type V2Parts = Pick<V1Parts, 'workflows' | 'runIndex' | 'runs'> & {
  readonly history: Pick<History, 'read' | 'find' | 'list' | 'placeOf' | 'summarize'>;
  readonly feeds: RunFeeds;
  /** The changes of all runs and workflows. */
  readonly changes: LiveChanges;
  readonly clock: Clock;
  /** Changes with each event of a run; reads none of them. */
  readonly runStamp: (runId: string) => string;
  /** Removes a run that has finished. */
  readonly removeRun: (runId: string) => Promise<number>;
  /** The runs that take a place and those that wait for one, in their order. */
  readonly queue: () => {
    readonly limit: number;
    readonly running: readonly string[];
    readonly waiting: readonly string[];
  };
  /** The limit of a queue that workflows name, and the number of runs that wait in it. */
  readonly queueNamed: (name: string) => { readonly limit: number; readonly waiting: number };
  /** Makes a waiting run the next one that starts; false if it does not wait. */
  readonly putFirst: (runId: string) => boolean;
  /** What schedules do between two moments, `limit` at most, in the order of time. */
  readonly moments: (from: number, to: number, limit: number) => readonly ScheduledMoment[];
  /** How many moments passed without anything being started. */
  readonly missed: () => number;
  /** Version, process and zone of the daemon. */
  readonly info: () => object;
  /** What `wf config` tells. */
  readonly settings: () => object;
  /** Begins with a slash and ends without one, or is empty. */
  readonly basePath: string;
};

/**
 * Returns the run that a path names: by its id, a unique prefix of it, `@latest` or `@failed`. A workflow is not
 * accepted, since its last run may change between two requests. Throws a `WfError`: `not-found`, or `usage` for the
 * prefix of several ids.
 */
export async function namedRun(word: string, { history }: Pick<V2Parts, 'history'>): Promise<PastRun> {
  const exact = await history.read(word);
  if (exact !== null) return exact;
  const run = await history.find(word);
  if (run.runId.startsWith(word) || word === '@latest' || word === '@failed') return run;
  throw new WfError('not-found', `there is no run "${word}"`, {
    help: 'GET /api/v2/runs?workflow= finds runs by name',
  });
}
