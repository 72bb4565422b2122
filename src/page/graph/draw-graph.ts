import { layOutColumns } from '#run-view/graph/graph-columns.ts';
import { type GraphLabel, graphItems } from '#run-view/graph/graph-items.ts';
import type { DrawnGraph } from '#run-view/graph-drawing.tsx';
import { type NamedGraph, numberedGraph } from '#run-view/graph-numbers.ts';
import { layOut } from './lay-out.ts';

/** Lays out the steps of a graph. The detail of a label is the longest text that can appear below its name. */
export async function drawGraph(named: NamedGraph, labelOf: (name: string) => GraphLabel): Promise<DrawnGraph> {
  const graph = numberedGraph(named);
  const { items, shape } = graphItems(graph, graph.names.map(labelOf));
  const layout = await layOut({ ...shape, sizes: shape.sizes.map(({ width, height }) => ({ width, height })) });
  return layout === null ? { graph, ...layOutColumns(graph) } : { graph, items, layout };
}
