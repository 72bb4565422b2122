import { isItemVariable } from '../fan-out/items.ts';
import { allSteps, type Step, type Workflow } from '../workflow.ts';

/** A workflow, with the parameters of a run as its steps get them: a named one reads `NAME=value`. */
type Names = { readonly workflow: Workflow; readonly params: readonly string[] };

/**
 * The names that a workflow defines: those of its `env`, parameters, secrets, and the outputs of steps and handlers.
 */
export function workflowNames({ workflow, params }: Names): readonly string[] {
  const names = [
    ...workflow.env.map(({ name }) => name),
    ...workflow.params.map(({ name }) => name),
    ...workflow.secrets.map(({ name }) => name),
    ...params.map((param) => /^([A-Za-z_]\w*)=/.exec(param)?.[1]),
    ...allSteps(workflow).flatMap(({ output, approval }) => [
      output,
      ...(approval?.inputs ?? []).map(({ name }) => name),
    ]),
  ];
  return names.filter((name) => typeof name === 'string');
}

/** The names defined for one step: those of its workflow, of the step's own `env`, and of its item. */
export function stepNames({ workflow, params, step }: Names & { readonly step: Step }): ReadonlySet<string> {
  return new Set([...workflowNames({ workflow, params }), ...step.env.map(({ name }) => name), ...itemNames(step)]);
}

/** The variables of its item that an instance of a fan-out mentions. */
export function itemNames(step: Step): readonly string[] {
  if (step.instanceOf === undefined) return [];
  return (JSON.stringify(step).match(/\b(?:WF_)?ITEM\w*/g) ?? []).filter(isItemVariable);
}
