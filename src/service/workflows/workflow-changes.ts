import type { Step, Workflow } from '#core/workflow.ts';

/** Lists the changes of a later version of a workflow as short phrases; empty if there are none. */
export function workflowChanges(before: Workflow, after: Workflow): readonly string[] {
  const { steps: oldSteps, ...oldRest } = before;
  const { steps: newSteps, ...newRest } = after;
  const old = new Map(oldSteps.map((step) => [step.name, step]));
  const now = new Map(newSteps.map((step) => [step.name, step]));
  const keys = Object.keys(newRest) as (keyof typeof newRest)[];
  return [
    ...named(
      'new',
      newSteps.filter(({ name }) => !old.has(name)),
    ),
    ...named(
      'changed',
      newSteps.filter((step) => isChanged(old.get(step.name), step)),
    ),
    ...named(
      'removed',
      oldSteps.filter(({ name }) => !now.has(name)),
    ),
    ...keys.filter((key) => !isSame(oldRest[key], newRest[key])).map((key) => `"${key}" changed`),
  ];
}

function named(what: string, steps: readonly Step[]): readonly string[] {
  if (steps.length === 0) return [];
  const names = steps.map(({ name }) => `"${name}"`).join(', ');
  return [`${what} ${steps.length === 1 ? 'step' : 'steps'} ${names}`];
}

function isChanged(before: Step | undefined, after: Step): boolean {
  return before !== undefined && !isSame(before, after);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
