import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { allSteps, type Step, type Workflow } from '#core/workflow.ts';

/** The steps and handlers of a workflow by their names in events. */
export type NodesByName = { readonly get: (name: string) => Step | undefined };

/** Returns the steps and handlers of a workflow by their names in events; an instance of a fan-out has its step. */
export function nodesByName(workflow: Workflow): NodesByName {
  const nodes = new Map(allSteps(workflow).map((step) => [step.name, step]));
  return {
    get: (name) => {
      const node = nodes.get(name);
      const step = node === undefined ? splitInstanceName(name)?.step : undefined;
      return step === undefined ? node : nodes.get(step);
    },
  };
}

/** The fan-out of an instance, by its name in an event; null for any other step. */
export function fanOutNamed(nodes: NodesByName, name: string): Step | null {
  const node = nodes.get(name);
  return node?.fanOut === undefined || node.name === name ? null : node;
}
