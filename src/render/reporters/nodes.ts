import type { Step, Workflow } from '../../core/workflow.ts';

/** Returns the steps and handlers of a workflow by their names in events. */
export function nodesByName(workflow: Workflow): ReadonlyMap<string, Step> {
  const handlers = Object.values(workflow.handlers).filter((handler) => handler !== null);
  return new Map([...workflow.steps, ...handlers].map((step) => [step.name, step]));
}
