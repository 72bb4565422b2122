import type { Workflow } from '../../api/types.ts';

/** Whether a workflow cannot be run. */
export function isBroken({ diagnostics }: Pick<Workflow, 'diagnostics'>): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Whether something happens to a workflow by itself. */
export function hasSchedule({ start, stop, restart }: Workflow['schedule']): boolean {
  return start.length + stop.length + restart.length > 0;
}

/** Whether a run is under way or waits for its turn. */
export function isActive(status: string): boolean {
  return ['queued', 'running', 'canceling', 'handling'].includes(status);
}
