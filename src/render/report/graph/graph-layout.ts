import { assignLayers, type Edge, type Layers } from './graph-layers.ts';
import { orderLayers } from './graph-order.ts';
import { placeAcross } from './graph-positions.ts';

/** What is to be laid out: boxes with their sizes in pixels, and what leads from which to which. */
export type GraphShape = {
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  readonly edges: readonly Edge[];
};

/** A straight or bent piece of an edge. */
export type Segment = { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number };

/** The drawing: where each box has its upper left corner, and the pieces of the edges. */
export type GraphLayout = {
  readonly isVertical: boolean;
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly { readonly x: number; readonly y: number }[];
  /** Between layers. */
  readonly bends: readonly Segment[];
  /** Past a layer, or from a box that is smaller than its layer to where that ends. */
  readonly straights: readonly Segment[];
  /** The two ends of each bend: numbers of boxes, from `boxes.length` on numbers of points between them. */
  readonly links: readonly Edge[];
  /** The box or point at which each straight begins. */
  readonly starts: readonly number[];
  /** Where edges arrive. */
  readonly ends: readonly { readonly x: number; readonly y: number }[];
};

/** A larger graph would be unreadable and too slow to lay out. */
const mostVertices = 12_000;
/** What a page is wide, about. */
const pageWidth = 1100;
const margin = 12;
/** Between layers, and between boxes of a layer. */
const gaps = { horizontal: { along: 56, across: 12 }, vertical: { along: 40, across: 20 } };

/** Lays out a graph without circles, from left to right or, where that fits the page better, downwards; null: too large. */
export function layOutGraph({ sizes, edges }: GraphShape): GraphLayout | null {
  const layers = assignLayers(sizes.length, edges, mostVertices);
  if (layers === null) return null;
  const ordered = orderLayers(layers);
  const across = toTheRight(ordered, sizes, gaps.horizontal);
  if (across.width <= pageWidth) return across;
  const down = turned(toTheRight(ordered, sizes.map(turnedSize), gaps.vertical));
  return down.width < across.width ? down : across;
}

function toTheRight(layers: Layers, sizes: GraphShape['sizes'], gap: typeof gaps.horizontal): GraphLayout {
  const { vertices, edges } = layers;
  const sizeOf = (vertex: number) => sizes[vertices[vertex]?.item ?? -1] ?? { width: 0, height: 0 };
  const heights = vertices.map((_, vertex) => sizeOf(vertex).height);
  const places = placeAcross(layers, heights, gap.across);
  const top = Math.min(...places.map((place, vertex) => place - (heights[vertex] ?? 0) / 2)) - margin;
  const y = (vertex: number) => Math.round((places[vertex] ?? 0) - top);
  const widths = layers.order.map((layer) => Math.max(...layer.map((vertex) => sizeOf(vertex).width)));
  const starts = startsOf(widths, gap.along);
  const start = (vertex: number) => starts[vertices[vertex]?.layer ?? 0] ?? 0;
  const end = (vertex: number) => start(vertex) + (widths[vertices[vertex]?.layer ?? 0] ?? 0);
  const isLeft = new Set(edges.map(([from]) => from));
  return {
    isVertical: false,
    width: (starts.at(-1) ?? 0) - gap.along + margin,
    height: Math.max(...heights.map((height, vertex) => y(vertex) + height / 2)) + margin,
    boxes: sizes.map(({ height }, item) => ({ x: start(item), y: y(item) - height / 2 })),
    bends: edges.map(([from, to]) => ({ x1: end(from), y1: y(from), x2: start(to), y2: y(to) })),
    links: edges,
    starts: [...isLeft],
    straights: [...isLeft].map((at) => ({ x1: start(at) + sizeOf(at).width, y1: y(at), x2: end(at), y2: y(at) })),
    ends: edges.flatMap(([, to]) => (vertices[to]?.item === null ? [] : [{ x: start(to), y: y(to) }])),
  };
}

/** Where each layer begins, and behind them where one more would. */
function startsOf(widths: readonly number[], gap: number): readonly number[] {
  let start = margin;
  const starts = widths.map((width) => {
    const here = start;
    start += width + gap;
    return here;
  });
  return [...starts, start];
}

/** The same drawing with its two directions exchanged. */
function turned(layout: GraphLayout): GraphLayout {
  return {
    isVertical: !layout.isVertical,
    width: layout.height,
    height: layout.width,
    boxes: layout.boxes.map(turnedPoint),
    bends: layout.bends.map(turnedSegment),
    straights: layout.straights.map(turnedSegment),
    links: layout.links,
    starts: layout.starts,
    ends: layout.ends.map(turnedPoint),
  };
}

function turnedSize({ width, height }: GraphShape['sizes'][number]): GraphShape['sizes'][number] {
  return { width: height, height: width };
}

function turnedPoint({ x, y }: { readonly x: number; readonly y: number }): { readonly x: number; readonly y: number } {
  return { x: y, y: x };
}

function turnedSegment({ x1, y1, x2, y2 }: Segment): Segment {
  return { x1: y1, y1: x1, x2: y2, y2: x2 };
}
