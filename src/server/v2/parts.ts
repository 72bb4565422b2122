import type { LiveChanges } from '../../daemon/live-changes.ts';
import type { RunFeeds } from '../../daemon/run-feeds.ts';
import type { Clock } from '../../engine/clock.ts';
import type { History } from '../../service/history/history.ts';
import type { ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { CheckResult } from '../../service/workflows/load-workflow.ts';
import type { createLogFollower } from '../../store/files/logs/log-follower.ts';
import type { findTail, logSize, readLogRange } from '../../store/files/logs/log-range.ts';
import type { V1Parts } from '../v1/parts.ts';

/** Reads the stored output of steps by file path. */
export type LogFiles = {
  readonly size: typeof logSize;
  readonly read: typeof readLogRange;
  readonly findTail: typeof findTail;
  /** Where their lines begin. */
  readonly indexes: LogIndexes;
  readonly follow: typeof createLogFollower;
};

/** What a schedule does at a moment; `file` is the absolute path of the workflow. */
export type ScheduledMoment = { readonly file: string; readonly kind: string; readonly at: Date };

/** Where the lines of logs begin: one position in `every` lines, as differences. */
export type LogIndexes = {
  readonly every: number;
  readonly of: (
    path: string,
  ) => Promise<{ readonly size: number; readonly lines: number; readonly deltas: readonly number[] }>;
};

/** What the v2 API works with. */
export type V2Parts = Pick<
  V1Parts,
  'catalog' | 'names' | 'runIndex' | 'runs' | 'suspensions' | 'editor' | 'shown' | 'shownText'
> & {
  readonly history: Pick<History, 'read' | 'find' | 'list' | 'placeOf' | 'summarize'>;
  readonly feeds: RunFeeds;
  /** The changes of all runs and workflows. */
  readonly changes: LiveChanges;
  readonly logFiles: LogFiles;
  readonly clock: Clock;
  /** Checks the text of a workflow; imports are resolved only within the workflows directory. */
  readonly check: (text: string, beside: string | null) => Promise<CheckResult>;
  /** Returns the next scheduled start of a workflow; null: none. */
  readonly nextOf: (listed: ListedWorkflow) => Date | null;
  /** Removes a run that has finished. */
  readonly removeRun: (runId: string) => Promise<number>;
  /** The runs that take a place and those that wait for one, in their order. */
  readonly queue: () => {
    readonly limit: number;
    readonly running: readonly string[];
    readonly waiting: readonly string[];
  };
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
