import type { Schedule } from '../../core/workflow.ts';
import type { ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { CronRule } from './cron-times.ts';

/** What is done when an expression is due. */
export type ScheduleKind = 'start' | 'stop' | 'restart';

/** One expression of one workflow. `file` is the absolute path. */
export type Rule = CronRule & { readonly file: string; readonly kind: ScheduleKind };

const kinds: readonly ScheduleKind[] = ['start', 'stop', 'restart'];

/** What tells one rule from another, also in later processes. */
export function ruleKey({ file, kind, expression, timeZone }: Rule): string {
  return [kind, timeZone ?? '', expression, file].join('\n');
}

/** The rules of a workflow; none of a file that is not valid. */
export function rulesOf({ file, workflow }: Pick<ListedWorkflow, 'file' | 'workflow'>): readonly Rule[] {
  if (workflow === null) return [];
  const { schedule } = workflow;
  return kinds.flatMap((kind) => expressionsOf(schedule, kind).map((rule) => ({ ...rule, file, kind })));
}

/** When a schedule starts, stops or restarts. */
export function expressionsOf(schedule: Schedule, kind: ScheduleKind): readonly CronRule[] {
  return [...new Set(schedule[kind])].map((expression) => ({ expression, timeZone: schedule.timeZone }));
}
