import type { StepStatus } from '#core/run/run.ts';
import type { Workflow } from '#run-view/api/types.ts';

/** The filters of the list of workflows: a text, a tag, a status. */
export type WorkflowFilter = { readonly find: string; readonly tag: string; readonly only: string };

/** The statuses offered by the filter, and whether a workflow has one. */
export const filters = new Map<string, (workflow: Workflow) => boolean>([
  ['failed', ({ lastRun }) => lastRun?.status === 'failed'],
  ['running', ({ lastRun }) => lastRun !== null && isActive(lastRun.status)],
  ['broken', isBroken],
]);

/** The workflows that match a filter: broken ones first, then in their order. */
export function filterWorkflows(workflows: readonly Workflow[], filter: WorkflowFilter): readonly Workflow[] {
  const only = filters.get(filter.only);
  const text = filter.find.trim().toLowerCase();
  const left = workflows.filter(
    (workflow) =>
      (only === undefined || only(workflow)) &&
      (filter.tag === '' || workflow.tags.includes(filter.tag)) &&
      (text === '' || textOf(workflow).includes(text)),
  );
  return [...left.filter(isBroken), ...left.filter((workflow) => !isBroken(workflow))];
}

function textOf({ id, name, description, tags }: Workflow): string {
  return [id, name, description, ...tags].join('\n').toLowerCase();
}

/** Whether a workflow cannot be run. */
export function isBroken({ diagnostics }: Pick<Workflow, 'diagnostics'>): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Whether a workflow has a schedule that starts, stops or restarts it. */
export function hasSchedule({ start, stop, restart }: Workflow['schedule']): boolean {
  return start.length + stop.length + restart.length > 0;
}

/** Whether a run is running or queued. */
export function isActive(status: string): boolean {
  return ['queued', 'running', 'canceling', 'handling'].includes(status);
}

const statuses: Readonly<Record<string, StepStatus>> = {
  S: 'succeeded',
  F: 'failed',
  K: 'skipped',
  C: 'canceled',
  U: 'upstream_failed',
  R: 'running',
  W: 'waiting',
  Q: 'scheduled',
  P: 'pending',
};

/** The status that a letter of a grid represents; null if the run does not have the step. */
export function cellStatus(cells: string, step: number): StepStatus | null {
  return statuses[cells[step] ?? '-'] ?? null;
}

/** The median of the numbers; null for an empty list. */
export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
