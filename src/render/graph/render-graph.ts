import { buildGraph } from '../../core/graph.ts';
import type { Workflow } from '../../core/workflow.ts';
import { dotGraph } from './graph-dot.ts';
import type { GraphFormat } from './graph-format.ts';
import { graphJson } from './graph-json.ts';
import { mermaidGraph } from './graph-mermaid.ts';
import { graphText } from './graph-text.ts';

/** Draws the steps of a workflow, their dependencies, and its handlers. Ends with a line break. */
export function renderGraph(
  workflow: Workflow,
  format: GraphFormat,
  { unicode }: { readonly unicode: boolean },
): string {
  const graph = buildGraph(workflow);
  switch (format) {
    case 'ascii':
      return graphText(graph, unicode);
    case 'mermaid':
      return mermaidGraph(graph);
    case 'dot':
      return dotGraph(graph, workflow.name);
    case 'json':
      return graphJson(graph);
  }
}
