import { handlerName } from '../workflow.ts';
import type { InstanceSummary, RunSummary, StepSummary } from './summary.ts';

/** The steps and handlers that failed, without the handler `wait`, whose failure is a warning of the run. */
export function failedSteps({ steps, handlers }: Pick<RunSummary, 'steps' | 'handlers'>): readonly StepSummary[] {
  return [...steps, ...handlers].filter(isFailure);
}

/** Whether a step or handler is listed as a failure of its run. */
function isFailure({ name, status }: Pick<StepSummary, 'name' | 'status'>): boolean {
  return status === 'failed' && name !== handlerName('wait');
}

/** The most failed instances of a fan-out that are shown, and the most failures of a run with its child runs. */
const MAX_INSTANCES = 3;
export const MAX_FAILURES = 20;

/**
 * The failures of a run to show, those that count first: of a fan-out its first failed instances instead of itself. `more`:
 * the number of the others.
 */
export function shownFailures(summary: Pick<RunSummary, 'steps' | 'handlers' | 'strict'>): {
  readonly shown: readonly (StepSummary | InstanceSummary)[];
  readonly more: number;
} {
  const all = failedSteps(summary).map(failedNodes);
  const picked = all.flatMap((nodes) => nodes.slice(0, MAX_INSTANCES));
  const shown = [...picked.filter((node) => !isTolerated(node)), ...picked.filter(isTolerated)].slice(0, MAX_FAILURES);
  return { shown, more: all.flat().length - shown.length };

  function isTolerated({ tolerated }: StepSummary): boolean {
    return tolerated !== undefined && summary.strict !== true;
  }
}

/** The failed instances of a fan-out, those whose failure counts first; the step itself if it has none. */
function failedNodes(step: StepSummary): readonly (StepSummary | InstanceSummary)[] {
  const failed = (step.items ?? []).filter(isFailure);
  if (failed.length === 0) return [step];
  return [...failed].sort((a, b) => Number(a.tolerated !== undefined) - Number(b.tolerated !== undefined));
}
