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
  readonly follow: typeof createLogFollower;
};

/** What the v2 API works with. */
export type V2Parts = Pick<
  V1Parts,
  'catalog' | 'names' | 'board' | 'desk' | 'suspensions' | 'editor' | 'mark' | 'shown' | 'shownText'
> & {
  readonly history: Pick<History, 'read' | 'find' | 'list' | 'placeOf' | 'summarize'>;
  readonly feeds: RunFeeds;
  /** What changes, of all runs and workflows. */
  readonly changes: LiveChanges;
  readonly logFiles: LogFiles;
  readonly clock: Clock;
  /** What is wrong with the text of a workflow; what it imports is looked for in the workflows directory alone. */
  readonly check: (text: string) => Promise<CheckResult>;
  /** When a workflow is started next; null for never, or not by the time. */
  readonly nextOf: (listed: ListedWorkflow) => Date | null;
  /** Begins with a slash and ends without one, or is empty. */
  readonly basePath: string;
};
