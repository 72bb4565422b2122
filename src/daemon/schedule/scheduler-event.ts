import { basename } from 'node:path';
import type { Schedule } from '#core/workflow.ts';
import { parseCron } from '#language/formats.ts';
import { messageOf } from '#system/errors.ts';
import type { ScheduleKind } from './next-start.ts';

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
  if (event.type === 'trouble') return `the scheduler: ${messageOf(event.error)}`;
  const name = basename(event.file);
  switch (event.type) {
    case 'started':
    case 'stopped':
    case 'waiting':
      return null;
    case 'skipped':
      return `${name}: skipped the run of ${time(event.moment)}: another run is active`;
    case 'replaced':
      return `${name}: skipped the run of ${time(event.moment)}: a later one waits instead`;
    case 'unneeded':
      return `${name}: skipped the run of ${time(event.moment)}: a run has succeeded since the one before`;
    case 'missed':
      return `${name}: missed ${event.kind}, ${times(event)}`;
    case 'failed':
      return `${name}: cannot ${event.kind}, due ${time(event.moment)}: ${messageOf(event.error)}${event.isOver ? '' : ' (will be retried)'}`;
    case 'broken':
      return `${name}: has errors, so its schedule is not run`;
  }
}

function times({ count, first, last }: Extract<SchedulerEvent, { type: 'missed' }>): string {
  return count === 1 ? `due ${time(first)}` : `${count} times from ${time(first)} to ${time(last)}`;
}

function time(moment: number): string {
  return new Date(moment).toISOString().slice(0, 16).concat('Z');
}

/** The expressions of a schedule in words, such as `At 02:00, every day`, in the order of the file. */
export type ScheduleWords = { readonly [kind in 'start' | 'stop' | 'restart']: readonly string[] };

/** A single start. */
const MOMENT = /^\d{4}-\d\d-\d\dT/;
/** A time of the day without a word about the days. */
const EVERY_DAY = /^At \d\d:\d\d$/;

/** Loads the library that describes cron expressions. */
export async function loadScheduleWords(): Promise<(schedule: Schedule) => ScheduleWords> {
  const { default: cronstrue } = await import('cronstrue');
  const wordsOf = (expression: string, zoneOfFile: string | null): string => {
    if (MOMENT.test(expression)) return `once, ${expression.slice(0, 16).replace('T', ' ')} UTC`;
    const zone = parseCron(expression)?.timeZone ?? null;
    const fields = zone === null ? expression : expression.slice(expression.search(/\s/)).trim();
    const words = cronstrue.toString(fields, { use24HourTimeFormat: true });
    return `${words}${EVERY_DAY.test(words) ? ', every day' : ''}${(zone ?? zoneOfFile) ? `, ${zone ?? zoneOfFile}` : ''}`;
  };
  return ({ start, stop, restart, timeZone }) => {
    const inWords = (expressions: readonly string[]) => expressions.map((each) => wordsOf(each, timeZone));
    return { start: inWords(start), stop: inWords(stop), restart: inWords(restart) };
  };
}
