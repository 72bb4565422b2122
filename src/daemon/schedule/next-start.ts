import type { Schedule } from '../../core/workflow.ts';
import type { CronTimes } from './cron-times.ts';
import { expressionsOf } from './rules.ts';

/** Returns the next start of a schedule after `now` (milliseconds since 1970-01-01 UTC); null: never. */
export function nextStart(schedule: Schedule, times: CronTimes, now: number): Date | null {
  const moments = expressionsOf(schedule, 'start').flatMap((rule) => times.next(rule, now) ?? []);
  return moments.length === 0 ? null : new Date(Math.min(...moments));
}

/** Returns `nextStart` with a cache for each schedule, for listings of many workflows. */
export function rememberNextStart(times: CronTimes): (schedule: Schedule, now: number) => Date | null {
  const known = new WeakMap<Schedule, { readonly next: Date | null; readonly since: number }>();
  return (schedule, now) => {
    const last = known.get(schedule);
    const holds = last !== undefined && last.since <= now && (last.next === null || now < last.next.getTime());
    if (holds) return last.next;
    const next = nextStart(schedule, times, now);
    known.set(schedule, { next, since: now });
    return next;
  };
}
