import type { ScheduleKind } from './rules.ts';

/**
 * What a scheduler tells of itself, for a log. `moment` is when something was due, in milliseconds since 1970-01-01 UTC;
 * `file` the absolute path of the workflow.
 */
export type SchedulerEvent =
  | { readonly type: 'started'; readonly file: string; readonly moment: number; readonly runId: string }
  /** A run is active and `overlap` is `skip`. */
  | { readonly type: 'skipped'; readonly file: string; readonly moment: number }
  /** It starts once the runs before it are over. */
  | { readonly type: 'waiting'; readonly file: string; readonly moment: number }
  | { readonly type: 'stopped'; readonly file: string; readonly moment: number; readonly runId: string }
  /** Nobody was there when it was due, and it is not made up for. */
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
      /** False: it is tried again. */
      readonly isOver: boolean;
    }
  /** The file has a schedule but cannot be read any more: nothing of it is started. */
  | { readonly type: 'broken'; readonly file: string }
  /** The scheduler's own affairs: its record cannot be read or written. */
  | { readonly type: 'trouble'; readonly error: unknown };
