import { allSteps } from '../core/all-steps.ts';
import type { Attempt } from './executor.ts';

/** The names to which a workflow gives values: those of its `env`, parameters, and outputs of steps and handlers. */
export function workflowNames({ workflow, params }: Pick<Attempt, 'workflow' | 'params'>): readonly string[] {
  const names = [
    ...workflow.env.map(({ name }) => name),
    ...workflow.params.map(({ name }) => name),
    ...params.map((param) => /^([A-Za-z_]\w*)=/.exec(param)?.[1]),
    ...allSteps(workflow).map(({ output }) => output),
  ];
  return names.filter((name) => typeof name === 'string');
}
