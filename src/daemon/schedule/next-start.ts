import type { Schedule } from '../../core/workflow.ts';
import type { CronTimes } from './cron-times.ts';
import { expressionsOf } from './rules.ts';

/**
 * Returns the next start of a schedule after `now`, and not before the end of its suspension (null: none), in milliseconds since
 * 1970-01-01 UTC; null: never.
 */
export function nextStart(
  schedule: Schedule,
  times: CronTimes,
  now: number,
  suspendedUntil: number | null,
): Date | null {
  if (suspendedUntil === Number.POSITIVE_INFINITY) return null;
  const after = Math.max(now, (suspendedUntil ?? 0) - 1);
  const moments = expressionsOf(schedule, 'start').flatMap((rule) => times.next(rule, after) ?? []);
  return moments.length === 0 ? null : new Date(Math.min(...moments));
}
