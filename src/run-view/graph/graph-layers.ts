import { drawingOrder } from '#render/graph/graph-lanes.ts';

/** An edge from an item to one that depends on it. */
export type Edge = readonly [from: number, to: number];

/** A box, or a bend of an edge that passes a layer. */
export type Vertex = { readonly item: number | null; readonly layer: number };

/** A drawing before positions are computed: vertices in layers, with edges between neighbouring layers only. */
export type Layers = {
  readonly vertices: readonly Vertex[];
  /** Numbers of vertices, layer by layer, in their order. */
  readonly order: readonly (readonly number[])[];
  readonly edges: readonly Edge[];
};

/**
 * Puts every item into the layer after its last dependency. An edge that is longer than one layer gets a bend in each
 * layer between; edges from one item share their bends. Null once there are more than `most` vertices.
 */
export function assignLayers(count: number, edges: readonly Edge[], most: number): Layers | null {
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
export function neighbours(count: number, edges: readonly Edge[]): readonly (readonly number[])[] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) lists[from]?.push(to);
  return lists;
}

/** The same edge in the opposite direction. */
export function flipped([from, to]: Edge): Edge {
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
