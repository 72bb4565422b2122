import type { Cron as CronJob } from 'croner';
import { type Cron, type CronField, parseCron } from '../../language/cron.ts';

/** A cron expression, and the time zone for an expression that names none; null: the machine's. */
export type CronRule = { readonly expression: string; readonly timeZone: string | null };

/**
 * The times of cron expressions, in milliseconds since 1970-01-01 UTC. Daylight saving time is handled as in cron: an
 * expression with `*` in its minute or hour describes intervals and follows elapsed time; any other describes times of
 * the day: a skipped time is due right after the change of the clock, a repeated time is due once, the first time.
 */
export type CronTimes = {
  /** Returns the first due time after `after`; null if there is none. The last result of each rule is kept until it passes. */
  readonly next: (rule: CronRule, after: number) => number | null;
  /** Returns the last due times up to `until`, oldest first, at most `count`. */
  readonly last: (rule: CronRule, until: number, count: number) => readonly number[];
};

/** An expression, and its first due time after a time, which is known from `after` until `next`. */
type Kept = { readonly job: CronJob | null; after: number; next: number | null };

/** The maximum number of cached expressions. */
const mostKept = 20_000;

/** Loads the library for calendars and time zones. */
export async function loadCronTimes(): Promise<CronTimes> {
  const { Cron: Job } = await import('croner');
  const kept = new Map<string, Kept>();
  const keptOf = ({ expression, timeZone }: CronRule): Kept => {
    const key = `${timeZone ?? ''} ${expression}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= mostKept) kept.clear();
    const cron = parseCron(expression);
    const zone = cron?.timeZone ?? timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const job =
      cron === null
        ? null
        : new Job(patternOf(cron), { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
    const made: Kept = { job, after: 0, next: 0 };
    kept.set(key, made);
    return made;
  };
  return {
    next: (rule, after) => {
      const known = keptOf(rule);
      const holds = known.after <= after && (known.next === null || after < known.next);
      if (holds) return known.next;
      known.after = after;
      known.next = known.job?.nextRun(new Date(after))?.getTime() ?? null;
      return known.next;
    },
    last: (rule, until, count) => {
      // The library excludes the given time; due times are whole seconds.
      const moments = keptOf(rule).job?.previousRuns(count, new Date(until + 1)) ?? [];
      return moments.map((moment) => moment.getTime()).reverse();
    },
  };
}

/** Converts a parsed expression to an explicit pattern, so that parser and library agree on its meaning. */
function patternOf({ minute, hour, dayOfMonth, month, dayOfWeek }: Cron): string {
  return [minute, hour].map(clockField).concat([dayOfMonth, month, dayOfWeek].map(calendarField)).join(' ');
}

/** Converts a field. The library treats only a field with a step as an interval, so intervals get one. */
function clockField({ values, isAny, isWild }: CronField): string {
  if (isAny) return '*';
  return values.map((value) => (isWild ? `${value}-${value}/1` : `${value}`)).join(',');
}

function calendarField({ values, isAny }: CronField): string {
  return isAny ? '*' : values.join(',');
}
