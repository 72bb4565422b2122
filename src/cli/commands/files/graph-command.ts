import { workflowPlaces } from '#config/config.ts';
import type { GraphFormat } from '#render/graph/graph-format.ts';
import { getWorkflow } from '#service/workflows/workflows.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor, workflowReference } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf graph`. */
export type GraphOptions = CommonOptions & {
  readonly name: string;
  readonly format: GraphFormat;
  readonly json?: true;
};

/** Draws the steps of a workflow. */
export async function graphCommand(
  { json, format, name, ...options }: GraphOptions,
  console: Console,
): Promise<number> {
  const { renderGraph } = await import('#render/graph/render-graph.ts');
  const { workflow } = getWorkflow(workflowReference(name), workflowPlaces(configFor(options)));
  console.out.write(renderGraph(workflow, json ? 'json' : format, { unicode: console.outTerminal.unicode }));
  return exitCodes.succeeded;
}
