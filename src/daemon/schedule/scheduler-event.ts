import type { ScheduleKind } from './rules.ts';

/**
 * An event of the scheduler, for a log. `moment` is the due time, in milliseconds since 1970-01-01 UTC;
 * `file` the absolute path of the workflow.
 */
export type SchedulerEvent =
  | { readonly type: 'started'; readonly file: string; readonly moment: number; readonly runId: string }
  /** A run is active and `overlap` is `skip`. */
  | { readonly type: 'skipped'; readonly file: string; readonly moment: number }
  /** The run starts when the runs before it have finished. */
  | { readonly type: 'waiting'; readonly file: string; readonly moment: number }
  | { readonly type: 'stopped'; readonly file: string; readonly moment: number; readonly runId: string }
  /** No daemon was running at the due time, and the start is not caught up. */
  | {
      readonly type: 'missed';
      readonly file: string;
      readonly kind: ScheduleKind;
      readonly count: number;
      readonly first: number;
      readonly last: number;
    }
  | {
      readonly type: 'failed';
      readonly file: string;
      readonly kind: ScheduleKind;
      readonly moment: number;
      readonly error: unknown;
      /** False: it is retried. */
      readonly isOver: boolean;
    }
  /** The file has a schedule but has become invalid, so it is not started. */
  | { readonly type: 'broken'; readonly file: string }
  /** An error of the scheduler itself: its record cannot be read or written. */
  | { readonly type: 'trouble'; readonly error: unknown };
