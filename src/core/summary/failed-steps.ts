import { handlerName } from '../workflow.ts';
import type { RunSummary, StepSummary } from './summary.ts';

/** The steps and handlers that failed, without the handler `wait`, whose failure is a warning of the run. */
export function failedSteps({ steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>): readonly StepSummary[] {
  return [...steps, ...handlers].filter(isFailure);
}

/** Whether a step or handler is listed as a failure of its run. */
export function isFailure({ name, status }: Pick<StepSummary, 'name' | 'status'>): boolean {
  return status === 'failed' && name !== handlerName('wait');
}
