import type { Schedule } from '../../core/workflow.ts';
import type { CronTimes } from './cron-times.ts';
import { expressionsOf } from './rules.ts';

/** Returns the next start of a schedule after `now` (milliseconds since 1970-01-01 UTC); null: never. */
export function nextStart(schedule: Schedule, times: CronTimes, now: number): Date | null {
  const moments = expressionsOf(schedule, 'start').flatMap((rule) => times.next(rule, now) ?? []);
  return moments.length === 0 ? null : new Date(Math.min(...moments));
}
