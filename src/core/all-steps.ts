import type { Step, Workflow } from './workflow.ts';

/** All steps, followed by all handlers. */
export function allSteps({ steps, handlers }: Pick<Workflow, 'steps' | 'handlers'>): readonly Step[] {
  const { success, failure, cancel, exit } = handlers;
  return [...steps, ...[success, failure, cancel, exit].filter((handler) => handler !== null)];
}
