import type { Workflow } from '#run-view/api/types.ts';

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
