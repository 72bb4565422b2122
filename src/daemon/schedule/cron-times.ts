import type { Cron as CronJob } from 'croner';
import { type Cron, type CronField, parseCron } from '#language/formats.ts';

/** A rule for due times. */
export type CronRule = {
  /** A cron expression, or a single moment as an ISO 8601 text in UTC. */
  readonly expression: string;
  /** The time zone of an expression without its own; null: the zone of the machine. */
  readonly timeZone: string | null;
  /** Days in that zone without due times: `2026-12-25`, or `12-25` of every year. */
  readonly notOn?: readonly string[];
};

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

type Job = {
  readonly next: (after: number) => number | null;
  readonly last: (until: number, count: number) => readonly number[];
};

/** A rule, and its first due time after a time, which is known from `after` until `next`. */
type Kept = { readonly job: Job | null; after: number; next: number | null };

const MOST_KEPT = 20_000;
const HOUR_MS = 3_600_000;
/** A rule without a due time in a century is never due. */
const LONGEST_SEARCH_MS = 100 * 366 * 24 * HOUR_MS;
/** The most due times in a row on days that are left out, weekly 38 years, before a rule is never due. */
const MOST_SKIPPED = 2000;

/** Loads the library for calendars and time zones. */
export async function loadCronTimes(): Promise<CronTimes> {
  const { Cron } = await import('croner');
  const kept = new Map<string, Kept>();
  const keptOf = ({ expression, timeZone, notOn = [] }: CronRule): Kept => {
    const key = [timeZone ?? '', expression, ...notOn].join(' ');
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= MOST_KEPT) kept.clear();
    const cron = parseCron(expression);
    const zone = cron?.timeZone ?? timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const options = { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true } as const;
    const moment = Date.parse(expression);
    const every = cron !== null ? cronJob(new Cron(patternOf(cron), options)) : null;
    const job = every ?? (Number.isNaN(moment) ? null : singleJob(moment));
    const made: Kept = { job: job === null || notOn.length === 0 ? job : without(job, notOn, zone), after: 0, next: 0 };
    kept.set(key, made);
    return made;
  };
  return {
    next: (rule, after) => {
      const known = keptOf(rule);
      const holds = known.after <= after && (known.next === null || after < known.next);
      if (holds) return known.next;
      known.after = after;
      known.next = known.job?.next(after) ?? null;
      return known.next;
    },
    last: (rule, until, count) => keptOf(rule).job?.last(until, count) ?? [],
  };
}

function cronJob(job: CronJob): Job {
  return {
    next: (after) => job.nextRun(new Date(after))?.getTime() ?? null,
    // The library excludes the given time; due times are whole seconds.
    last: (until, count) =>
      job
        .previousRuns(count, new Date(until + 1))
        .map((moment) => moment.getTime())
        .reverse(),
  };
}

function singleJob(moment: number): Job {
  return {
    next: (after) => (after < moment ? moment : null),
    last: (until, count) => (moment <= until && count > 0 ? [moment] : []),
  };
}

/** The due times of a rule without those on certain days of a time zone. */
function without(job: Job, notOn: readonly string[], timeZone: string): Job {
  const days = new Set(notOn);
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  /** The milliseconds since the start of the day if it is one of the days, else null. */
  const timeOfFreeDay = (moment: number): number | null => {
    const [day = '', time = ''] = format.format(moment).split(', ');
    if (!days.has(day) && !days.has(day.slice(5))) return null;
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
    return hours * HOUR_MS + minutes * 60_000 + seconds * 1000;
  };
  return {
    next: (after) => {
      let from = after;
      for (let skipped = 0; skipped < MOST_SKIPPED && from - after < LONGEST_SEARCH_MS; skipped += 1) {
        const moment = job.next(from);
        const time = moment === null ? null : timeOfFreeDay(moment);
        if (moment === null || time === null) return moment;
        // Not beyond the end of the day, even where it has 23 hours.
        const left = 23 * HOUR_MS - time - 1;
        from = left > 0 ? moment + left : moment;
      }
      return null;
    },
    last: (until, count) => {
      const found: number[] = [];
      let before = until;
      let skipped = 0;
      while (found.length < count && skipped < MOST_SKIPPED && until - before < LONGEST_SEARCH_MS) {
        const [moment] = job.last(before, 1);
        if (moment === undefined) break;
        const time = timeOfFreeDay(moment);
        if (time === null) found.unshift(moment);
        else skipped += 1;
        const passed = time === null ? 0 : Math.max(0, time - HOUR_MS);
        before = moment - passed - 1;
      }
      return found;
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
