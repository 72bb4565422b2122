import type { Workflow } from '../api/types.ts';

/** Whether a workflow cannot be run. */
export function isBroken({ diagnostics }: Pick<Workflow, 'diagnostics'>): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Whether a run is under way or waits for its turn. */
export function isActive(status: string): boolean {
  return ['queued', 'running', 'canceling', 'handling'].includes(status);
}
