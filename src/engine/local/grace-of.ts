import type { RunRequest } from '../engine.ts';

/** The time between the stop of a run and the kill of its steps: at most that of the run that runs it. */
export function graceOf({ workflow, parentGraceMs }: Pick<RunRequest, 'workflow' | 'parentGraceMs'>): number {
  return Math.min(workflow.graceMs, parentGraceMs ?? Number.POSITIVE_INFINITY);
}
