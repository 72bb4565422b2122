import { drawingOrder } from '#core/graph.ts';

/** The input of a layout: boxes with their sizes in pixels, and edges. */
export type GraphShape = {
  readonly sizes: readonly { readonly width: number; readonly height: number }[];
  readonly edges: readonly Edge[];
};

/** A straight or curved piece of an edge. */
type Segment = { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number };

/** The drawing: the top left corner of each box, and the pieces of the edges. */
export type GraphLayout = {
  readonly isVertical: boolean;
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly { readonly x: number; readonly y: number }[];
  readonly bends: readonly Segment[];
  /** Straight segments through a layer, or from a small box to the end of its layer. */
  readonly straights: readonly Segment[];
  /** The two ends of each curve: numbers of boxes, then, from `boxes.length` on, numbers of points between them. */
  readonly links: readonly Edge[];
  /** The box or point where each straight piece begins. */
  readonly starts: readonly number[];
  readonly ends: readonly { readonly x: number; readonly y: number }[];
};

/** The limit of vertices: a larger graph would be unreadable and too slow to lay out. */
const MOST_VERTICES = 12_000;
/** The approximate width of a page, in pixels. */
const PAGE_WIDTH = 1100;
const MARGIN = 12;
/** Gaps between layers, and between boxes of a layer, in pixels. */
const gaps = { horizontal: { along: 56, across: 12 }, vertical: { along: 40, across: 20 } };

/** Lays out a graph from left to right or, if that fits the page better, downwards; null: it is too large. */
export function layOutGraph({ sizes, edges }: GraphShape): GraphLayout | null {
  const layers = assignLayers(sizes.length, edges, MOST_VERTICES);
  if (layers === null) return null;
  const ordered = orderLayers(layers);
  const across = toTheRight(ordered, sizes, gaps.horizontal);
  if (across.width <= PAGE_WIDTH) return across;
  const turnedSizes = sizes.map(({ width, height }) => ({ width: height, height: width }));
  const down = turned(toTheRight(ordered, turnedSizes, gaps.vertical));
  return down.width < across.width ? down : across;
}

function toTheRight(layers: Layers, sizes: GraphShape['sizes'], gap: typeof gaps.horizontal): GraphLayout {
  const { vertices, edges } = layers;
  const sizeOf = (vertex: number) => sizes[vertices[vertex]?.item ?? -1] ?? { width: 0, height: 0 };
  const heights = vertices.map((_, vertex) => sizeOf(vertex).height);
  const positions = positionsAcross(layers, heights, gap.across);
  const top = Math.min(...positions.map((position, vertex) => position - (heights[vertex] ?? 0) / 2)) - MARGIN;
  const y = (vertex: number) => Math.round((positions[vertex] ?? 0) - top);
  const widths = layers.order.map((layer) => Math.max(...layer.map((vertex) => sizeOf(vertex).width)));
  const starts = startsOf(widths, gap.along);
  const start = (vertex: number) => starts[vertices[vertex]?.layer ?? 0] ?? 0;
  const end = (vertex: number) => start(vertex) + (widths[vertices[vertex]?.layer ?? 0] ?? 0);
  const isLeft = new Set(edges.map(([from]) => from));
  return {
    isVertical: false,
    width: (starts.at(-1) ?? 0) - gap.along + MARGIN,
    height: Math.max(...heights.map((height, vertex) => y(vertex) + height / 2)) + MARGIN,
    boxes: sizes.map(({ height }, item) => ({ x: start(item), y: y(item) - height / 2 })),
    bends: edges.map(([from, to]) => ({ x1: end(from), y1: y(from), x2: start(to), y2: y(to) })),
    links: edges,
    starts: [...isLeft],
    straights: [...isLeft].map((at) => ({ x1: start(at) + sizeOf(at).width, y1: y(at), x2: end(at), y2: y(at) })),
    ends: edges.flatMap(([, to]) => (vertices[to]?.item === null ? [] : [{ x: start(to), y: y(to) }])),
  };
}

/** The start of each layer, and the end of the last one. */
function startsOf(widths: readonly number[], gap: number): readonly number[] {
  let start = MARGIN;
  const starts = widths.map((width) => {
    const here = start;
    start += width + gap;
    return here;
  });
  return [...starts, start];
}

/** The same drawing with both axes swapped. */
function turned(layout: GraphLayout): GraphLayout {
  const point = ({ x, y }: GraphLayout['ends'][number]) => ({ x: y, y: x });
  const segment = ({ x1, y1, x2, y2 }: Segment) => ({ x1: y1, y1: x1, x2: y2, y2: x2 });
  return {
    ...layout,
    isVertical: !layout.isVertical,
    width: layout.height,
    height: layout.width,
    boxes: layout.boxes.map(point),
    bends: layout.bends.map(segment),
    straights: layout.straights.map(segment),
    ends: layout.ends.map(point),
  };
}

const SWEEPS = 12;

/** Orders the vertices of each layer to reduce crossings: each near the mean position of its neighbours. */
function orderLayers(layers: Layers): Layers {
  const count = layers.vertices.length;
  const forward = neighbours(count, layers.edges);
  const backward = neighbours(count, layers.edges.map(flipped));
  let order = layers.order;
  let best = { order, crossings: crossings(order, forward) };
  for (let sweep = 0; sweep < SWEEPS && best.crossings > 0; sweep++) {
    order = sweep % 2 === 0 ? sortedBy(order, backward) : sortedBy(order.toReversed(), forward).toReversed();
    const found = crossings(order, forward);
    if (found < best.crossings) best = { order, crossings: found };
  }
  return { ...layers, order: best.order };
}

/** Sorts each layer by the positions of the neighbours in the layer before it. */
function sortedBy(order: Layers['order'], towards: readonly (readonly number[])[]): Layers['order'] {
  const sorted: (readonly number[])[] = [];
  let before = new Map<number, number>();
  for (const layer of order) {
    const wanted = new Map(
      layer.map((vertex, index) => [vertex, mean(towards[vertex] ?? [], (near) => before.get(near)) ?? index]),
    );
    const next = layer.toSorted((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    before = new Map(next.map((vertex, index) => [vertex, index]));
    sorted.push(next);
  }
  return sorted;
}

function mean(vertices: readonly number[], positionOf: (vertex: number) => number | undefined): number | null {
  if (vertices.length === 0) return null;
  return vertices.reduce((sum, vertex) => sum + (positionOf(vertex) ?? 0), 0) / vertices.length;
}

/** The number of pairs of edges that cross. */
function crossings(order: Layers['order'], forward: readonly (readonly number[])[]): number {
  let count = 0;
  for (let layer = 0; layer + 1 < order.length; layer++) {
    const positions = new Map(order[layer + 1]?.map((vertex, index) => [vertex, index]));
    const ends = (order[layer] ?? []).flatMap((vertex) =>
      (forward[vertex] ?? []).map((to) => positions.get(to) ?? 0).sort((a, b) => a - b),
    );
    count += inversions(ends, positions.size);
  }
  return count;
}

/** The number of pairs with the larger number first, counted with a Fenwick tree. */
function inversions(numbers: readonly number[], limit: number): number {
  const tree = new Array<number>(limit + 1).fill(0);
  let count = 0;
  for (const [seen, number] of numbers.entries()) {
    let notLarger = 0;
    for (let at = number + 1; at > 0; at -= at & -at) notLarger += tree[at] ?? 0;
    count += seen - notLarger;
    for (let at = number + 1; at <= limit; at += at & -at) tree[at] = (tree[at] ?? 0) + 1;
  }
  return count;
}

const ROUNDS = 6;
/** Weight of a straight edge through a layer; a straight row of boxes has weight 1. */
const BEND_WEIGHT = 4;

/** The centre of each vertex across the layers: near its neighbours, in order, and not too close to the next. */
function positionsAcross(layers: Layers, sizes: readonly number[], gap: number): readonly number[] {
  const { vertices, order, edges } = layers;
  const after = neighbours(vertices.length, edges);
  const before = neighbours(vertices.length, edges.map(flipped));
  const positions = new Array<number>(vertices.length).fill(0);
  const weights = vertices.map(({ item }) => (item === null ? BEND_WEIGHT : 1));
  const settle = (layer: readonly number[], towards: readonly (readonly number[])[]): void => {
    const wanted = layer.map(
      (vertex) => mean(towards[vertex] ?? [], (near) => positions[near]) ?? positions[vertex] ?? 0,
    );
    const offsets = offsetsOf(layer, sizes, gap);
    const free = wanted.map((position, index) => position - (offsets[index] ?? 0));
    const fitted = ascending(
      free,
      layer.map((vertex) => weights[vertex] ?? 1),
    );
    layer.forEach((vertex, index) => {
      positions[vertex] = (fitted[index] ?? 0) + (offsets[index] ?? 0);
    });
  };
  for (const layer of order) settle(layer, before);
  for (let round = 0; round < ROUNDS; round++) {
    for (const layer of order.toReversed()) settle(layer, after);
    for (const layer of order) settle(layer, before);
  }
  const both = before.map((list, vertex) => [...list, ...(after[vertex] ?? [])]);
  for (const layer of order) settle(layer, both);
  return positions;
}

/** The least distance of each vertex of a layer from the first. */
function offsetsOf(layer: readonly number[], sizes: readonly number[], gap: number): readonly number[] {
  let offset = 0;
  return layer.map((vertex, index) => {
    const size = sizes[vertex] ?? 0;
    const previous = layer[index - 1];
    if (previous !== undefined) offset += ((sizes[previous] ?? 0) + size) / 2 + gap;
    return offset;
  });
}

type Pool = { sum: number; weight: number; count: number };

/** The ascending numbers closest to the given ones (pool adjacent violators). */
function ascending(wanted: readonly number[], weights: readonly number[]): readonly number[] {
  const pools: Pool[] = [];
  for (const [index, number] of wanted.entries()) {
    const weight = weights[index] ?? 1;
    let pool: Pool = { sum: number * weight, weight, count: 1 };
    for (
      let last = pools.at(-1);
      last !== undefined && last.sum / last.weight > pool.sum / pool.weight;
      last = pools.at(-1)
    ) {
      pools.pop();
      pool = { sum: last.sum + pool.sum, weight: last.weight + pool.weight, count: last.count + pool.count };
    }
    pools.push(pool);
  }
  return pools.flatMap(({ sum, weight, count }) => new Array<number>(count).fill(sum / weight));
}

/** An edge from an item to one that depends on it. */
export type Edge = readonly [from: number, to: number];

/** A box, or a bend of an edge that passes a layer. */
type Vertex = { readonly item: number | null; readonly layer: number };

/** A drawing before positions are computed: vertices in layers, with edges between neighbouring layers only. */
type Layers = {
  readonly vertices: readonly Vertex[];
  /** Numbers of vertices, layer by layer, in their order. */
  readonly order: readonly (readonly number[])[];
  readonly edges: readonly Edge[];
};

/**
 * Puts every item into the layer after its last dependency. An edge that is longer than one layer gets a bend in each
 * layer between; edges from one item share their bends. Null once there are more than `most` vertices.
 */
function assignLayers(count: number, edges: readonly Edge[], most: number): Layers | null {
  const next = neighbours(count, edges);
  const order = drawingOrder({
    stepCount: count,
    dependents: next,
    dependencies: neighbours(count, edges.map(flipped)),
  });
  const depth = new Array<number>(count).fill(0);
  for (const from of order)
    for (const to of next[from] ?? []) depth[to] = Math.max(depth[to] ?? 0, (depth[from] ?? 0) + 1);
  const vertices: Vertex[] = depth.map((layer, item) => ({ item, layer }));
  const short: Edge[] = [];
  for (const from of order) {
    if (vertices.length > most) return null;
    short.push(...withBends(from, next[from] ?? [], vertices));
  }
  const layers: number[][] = Array.from({ length: Math.max(0, ...depth) + 1 }, () => []);
  for (const item of order) layers[depth[item] ?? 0]?.push(item);
  for (let bend = count; bend < vertices.length; bend++) layers[vertices[bend]?.layer ?? 0]?.push(bend);
  return { vertices, order: layers, edges: short };
}

/** The targets of the edges, for each vertex. */
function neighbours(count: number, edges: readonly Edge[]): readonly (readonly number[])[] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) lists[from]?.push(to);
  return lists;
}

function flipped([from, to]: Edge): Edge {
  return [to, from];
}

function withBends(from: number, targets: readonly number[], vertices: Vertex[]): readonly Edge[] {
  const start = vertices[from]?.layer ?? 0;
  const bends = new Map<number, number>([[start, from]]);
  const edges: Edge[] = [];
  const last = Math.max(start, ...targets.map((to) => (vertices[to]?.layer ?? 0) - 1));
  for (let layer = start + 1; layer <= last; layer++) {
    edges.push([bends.get(layer - 1) ?? from, vertices.length]);
    bends.set(layer, vertices.length);
    vertices.push({ item: null, layer });
  }
  for (const to of targets) edges.push([bends.get((vertices[to]?.layer ?? 0) - 1) ?? from, to]);
  return edges;
}
