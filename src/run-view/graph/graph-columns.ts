import { drawingOrder } from '#render/graph/graph-lanes.ts';
import { block, type Dependencies, type GraphItem } from './graph-items.ts';
import type { GraphLayout } from './graph-layout.ts';

const MARGIN = 12;
const GAP = 24;

/**
 * Draws a graph that is too large for a layout: each layer is a column of squares, one for each step, without edges. A
 * step is in the layer after the last of its dependencies.
 */
export function layOutColumns(graph: Dependencies): {
  readonly items: readonly GraphItem[];
  readonly layout: GraphLayout;
} {
  const items = layersOf(graph).map((nodes) => block(nodes, []));
  const height = Math.max(0, ...items.map((item) => item.height));
  let x = MARGIN;
  const boxes = items.map((item) => {
    const box = { x, y: MARGIN + Math.round((height - item.height) / 2) };
    x += item.width + GAP;
    return box;
  });
  const layout = { isVertical: false, width: x - GAP + MARGIN, height: height + 2 * MARGIN, boxes };
  return { items, layout: { ...layout, bends: [], straights: [], links: [], starts: [], ends: [] } };
}

function layersOf(graph: Dependencies): readonly (readonly number[])[] {
  const depth = new Array<number>(graph.stepCount).fill(0);
  const layers: number[][] = [];
  for (const node of drawingOrder(graph)) {
    for (const from of graph.dependencies[node] ?? []) depth[node] = Math.max(depth[node] ?? 0, (depth[from] ?? 0) + 1);
    const layer = depth[node] ?? 0;
    layers[layer] ??= [];
    layers[layer]?.push(node);
  }
  return layers.map((nodes) => nodes.sort((a, b) => a - b));
}
