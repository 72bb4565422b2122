import type { Schedule } from '#core/workflow.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import type { CronRule, CronTimes } from './cron-times.ts';

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

/** The action at a due time. */
export type ScheduleKind = 'start' | 'stop' | 'restart';

/** One expression of one workflow. `file` is the absolute path. */
export type Rule = CronRule & { readonly file: string; readonly kind: ScheduleKind };

const kinds: readonly ScheduleKind[] = ['start', 'stop', 'restart'];

/** Returns the identity of a rule, which is stable across processes. */
export function ruleKey({ file, kind, expression, timeZone }: Rule): string {
  return [kind, timeZone ?? '', expression, file].join('\n');
}

/** Returns the rules of a workflow; empty for an invalid file. */
export function rulesOf({ file, workflow }: Pick<ListedWorkflow, 'file' | 'workflow'>): readonly Rule[] {
  if (workflow === null) return [];
  const { schedule } = workflow;
  return kinds.flatMap((kind) => expressionsOf(schedule, kind).map((rule) => ({ ...rule, file, kind })));
}

/** Returns the expressions of a schedule for one kind. */
export function expressionsOf(schedule: Schedule, kind: ScheduleKind): readonly CronRule[] {
  // A stop ends active runs, on every day.
  const days = kind === 'stop' || schedule.notOn === undefined ? {} : { notOn: schedule.notOn };
  return [...new Set(schedule[kind])].map((expression) => ({ expression, timeZone: schedule.timeZone, ...days }));
}

/** Returns the starts of a schedule in `[from, to)`, in order, `limit` at most, in milliseconds since 1970-01-01 UTC. */
export function startsBetween(
  schedule: Schedule,
  times: CronTimes,
  { from, to, limit }: { from: number; to: number; limit: number },
): readonly number[] {
  const rules = expressionsOf(schedule, 'start');
  const found: number[] = [];
  for (let after = from - 1; found.length < limit; ) {
    after = Math.min(...rules.flatMap((rule) => times.next(rule, after) ?? []));
    if (after >= to) break;
    found.push(after);
  }
  return found;
}
