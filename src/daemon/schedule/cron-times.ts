import type { Cron as CronJob } from 'croner';
import { type Cron, type CronField, parseCron } from '../../language/cron.ts';

/** A cron expression with the zone to read it in where it names none; null: the machine's. */
export type CronRule = { readonly expression: string; readonly timeZone: string | null };

/**
 * When expressions are due, in milliseconds since 1970-01-01 UTC. Summer time is met as cron does: an expression with `*`
 * in its minute or hour is about intervals, and follows the hours that really pass; any other is about times of the day,
 * and one that the clock jumps over is due right after the jump, one that comes twice is due the first time.
 */
export type CronTimes = {
  /** The first moment after `after`; null when there is none. */
  readonly next: (rule: CronRule, after: number) => number | null;
  /** The last moments up to `until`, oldest first, `count` at most. */
  readonly last: (rule: CronRule, until: number, count: number) => readonly number[];
};

/** So many expressions are kept ready, which is more than any machine has workflows. */
const mostKept = 20_000;

/** Loads what knows calendars and time zones. */
export async function loadCronTimes(): Promise<CronTimes> {
  const { Cron: Job } = await import('croner');
  const kept = new Map<string, CronJob | null>();
  const jobOf = ({ expression, timeZone }: CronRule): CronJob | null => {
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
    kept.set(key, job);
    return job;
  };
  return {
    next: (rule, after) => jobOf(rule)?.nextRun(new Date(after))?.getTime() ?? null,
    last: (rule, until, count) => {
      // What it is asked about is left out there; nothing is due within a second.
      const moments = jobOf(rule)?.previousRuns(count, new Date(until + 1)) ?? [];
      return moments.map((moment) => moment.getTime()).reverse();
    },
  };
}

/** What was read, spelled out, so that both halves of the program mean the same by it. */
function patternOf({ minute, hour, dayOfMonth, month, dayOfWeek }: Cron): string {
  return [minute, hour].map(clockField).concat([dayOfMonth, month, dayOfWeek].map(calendarField)).join(' ');
}

/** There a step is what makes an interval of a field, so one that is about intervals keeps one. */
function clockField({ values, isAny, isWild }: CronField): string {
  if (isAny) return '*';
  return values.map((value) => (isWild ? `${value}-${value}/1` : `${value}`)).join(',');
}

function calendarField({ values, isAny }: CronField): string {
  return isAny ? '*' : values.join(',');
}
