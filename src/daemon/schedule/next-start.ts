import type { Schedule } from '#core/workflow.ts';
import type { CronTimes } from './cron-times.ts';
import { expressionsOf } from './rules.ts';

/**
 * Returns the next starts of a schedule after `now`, in order, `count` at most, and not before the end of its suspension
 * (null: none), in milliseconds since 1970-01-01 UTC.
 */
export function nextStarts(
  schedule: Schedule,
  times: CronTimes,
  { now, suspendedUntil, count }: { now: number; suspendedUntil: number | null; count: number },
): readonly Date[] {
  if (suspendedUntil === Number.POSITIVE_INFINITY) return [];
  const rules = expressionsOf(schedule, 'start');
  const found: Date[] = [];
  let after = Math.max(now, (suspendedUntil ?? 0) - 1);
  while (found.length < count) {
    const moments = rules.flatMap((rule) => times.next(rule, after) ?? []);
    if (moments.length === 0) break;
    after = Math.min(...moments);
    found.push(new Date(after));
  }
  return found;
}
