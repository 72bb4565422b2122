import { basename } from 'node:path';
import { messageOf } from '#system/errors.ts';
import type { ScheduleKind } from './rules.ts';

/**
 * An event of the scheduler, for a log. `moment` is the due time, in milliseconds since 1970-01-01 UTC;
 * `file` the absolute path of the workflow.
 */
export type SchedulerEvent =
  | { readonly type: 'started'; readonly file: string; readonly moment: number; readonly runId: string }
  /** A run is active and `overlap` is `skip`. */
  | { readonly type: 'skipped'; readonly file: string; readonly moment: number }
  /** A newer start waits in its place, since `overlap` is `latest`. */
  | { readonly type: 'replaced'; readonly file: string; readonly moment: number }
  /** A run succeeded since the due time before, and `skipIfSuccessful` is set. */
  | { readonly type: 'unneeded'; readonly file: string; readonly moment: number }
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

/** Formats an event of the scheduler for the operator's log; null for normal operation. */
export function schedulerLine(event: SchedulerEvent): string | null {
  switch (event.type) {
    case 'started':
    case 'stopped':
    case 'waiting':
      return null;
    case 'skipped':
      return `${basename(event.file)}: skipped the run of ${time(event.moment)}: another run is active`;
    case 'replaced':
      return `${basename(event.file)}: skipped the run of ${time(event.moment)}: a later one waits instead`;
    case 'unneeded':
      return `${basename(event.file)}: skipped the run of ${time(event.moment)}: a run has succeeded since the one before`;
    case 'missed':
      return `${basename(event.file)}: missed ${event.kind}, ${times(event)}`;
    case 'failed':
      return `${basename(event.file)}: cannot ${event.kind}, due ${time(event.moment)}: ${messageOf(event.error)}${event.isOver ? '' : ' (will be retried)'}`;
    case 'broken':
      return `${basename(event.file)}: has errors, so its schedule is not run`;
    case 'trouble':
      return `the scheduler: ${messageOf(event.error)}`;
  }
}

function times({ count, first, last }: Extract<SchedulerEvent, { type: 'missed' }>): string {
  return count === 1 ? `due ${time(first)}` : `${count} times from ${time(first)} to ${time(last)}`;
}

function time(moment: number): string {
  return new Date(moment).toISOString().slice(0, 16).concat('Z');
}
