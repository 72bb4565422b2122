import { allSteps, type Step, type Workflow } from '../../core/workflow.ts';

/** Returns the steps and handlers of a workflow by their names in events. */
export function nodesByName(workflow: Workflow): ReadonlyMap<string, Step> {
  return new Map(allSteps(workflow).map((step) => [step.name, step]));
}
