import { type GraphItem, graphItems } from '../../render/report/graph/graph-items.ts';
import type { GraphLayout } from '../../render/report/graph/graph-layout.ts';
import { layOut } from './lay-out.ts';
import { type NamedGraph, type NumberedGraph, numberedGraph } from './shape.ts';

/** More boxes than these are not drawn. */
const MAX_BOXES = 1000;

/** A graph with the positions of its boxes. */
export type DrawnGraph = {
  readonly graph: NumberedGraph;
  readonly items: readonly GraphItem[];
  readonly layout: GraphLayout;
};

/** Lays out the steps of a graph. `detail` is a text as long as any that is written below a name. */
export async function drawGraph(named: NamedGraph, detail: string): Promise<DrawnGraph | 'too-large'> {
  const graph = numberedGraph(named);
  const labels = graph.names.map((name) => ({ name, detail }));
  const { items, shape } = graphItems(graph, labels);
  if (items.length > MAX_BOXES) return 'too-large';
  const layout = await layOut({ ...shape, sizes: shape.sizes.map(({ width, height }) => ({ width, height })) });
  return layout === null ? 'too-large' : { graph, items, layout };
}
