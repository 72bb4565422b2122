import { type Graph, nodeAt } from '#core/graph.ts';
import { handlerKind } from '#core/workflow.ts';

/** The formats of `wf graph`. */
export const graphFormats = ['ascii', 'mermaid', 'dot', 'json'] as const;

/** One of `graphFormats`. */
export type GraphFormat = (typeof graphFormats)[number];

/** Renders the graph as JSON, see `graphView`. */
export function graphJson(graph: Graph): string {
  return `${JSON.stringify(graphView(graph), null, 2)}\n`;
}

/** Returns the graph as data: `{nodes: [{name, handler, executor}], edges: [{from, to}]}`; `handler` is null for a step. */
export function graphView(graph: Graph): object {
  const nodes = graph.nodes.map((node, number) => ({
    name: node.name,
    handler: number < graph.stepCount ? null : handlerKind(node.name),
    executor: node.executor.type,
  }));
  const edges = graphEdges(graph).map(([from, to]) => ({ from: nodeAt(graph, from).name, to: nodeAt(graph, to).name }));
  return { nodes, edges };
}

/** Returns every dependency as the indexes of its two nodes, in the order of the file. */
export function graphEdges(graph: Graph): readonly (readonly [from: number, to: number])[] {
  return graph.dependencies.flatMap((numbers, to) => numbers.map((from) => [from, to] as const));
}
