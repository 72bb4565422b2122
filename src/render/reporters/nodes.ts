import type { Step, Workflow } from '../../core/workflow.ts';

/** The steps and handlers of a workflow by the names under which events speak of them. */
export function nodesByName(workflow: Workflow): ReadonlyMap<string, Step> {
  const handlers = Object.values(workflow.handlers).filter((handler) => handler !== null);
  return new Map([...workflow.steps, ...handlers].map((step) => [step.name, step]));
}
