import type { Graph } from '../../core/graph.ts';
import { WfError } from '../../errors.ts';
import { didYouMean, nearNames } from '../../language/near-names.ts';

/** Creates the error for an unknown step of a workflow. */
export function noSuchStep(name: string, { nodes, stepCount }: Graph): WfError {
  const names = nodes.slice(0, stepCount).map((node) => node.name);
  const help = didYouMean(nearNames(name, names)) || `its steps: ${names.join(', ')}`;
  return new WfError('not-found', `the workflow has no step "${name}"`, { help });
}
