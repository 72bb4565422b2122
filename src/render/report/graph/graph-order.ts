import { flipped, type Layers, neighbours } from './graph-layers.ts';

const sweeps = 12;

/** The layers with their vertices in an order in which few edges cross: each near the middle of those it is joined with. */
export function orderLayers(layers: Layers): Layers {
  const count = layers.vertices.length;
  const forward = neighbours(count, layers.edges);
  const backward = neighbours(count, layers.edges.map(flipped));
  let order = layers.order;
  let best = { order, crossings: crossings(order, forward) };
  for (let sweep = 0; sweep < sweeps && best.crossings > 0; sweep++) {
    order = sweep % 2 === 0 ? sortedBy(order, backward) : sortedBy(order.toReversed(), forward).toReversed();
    const found = crossings(order, forward);
    if (found < best.crossings) best = { order, crossings: found };
  }
  return { ...layers, order: best.order };
}

/** Each layer sorted by where the neighbours in the layer before it stand. */
function sortedBy(order: Layers['order'], towards: readonly (readonly number[])[]): Layers['order'] {
  const sorted: (readonly number[])[] = [];
  let before = new Map<number, number>();
  for (const layer of order) {
    const wanted = new Map(layer.map((vertex, index) => [vertex, mean(towards[vertex] ?? [], before) ?? index]));
    const next = layer.toSorted((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    before = new Map(next.map((vertex, index) => [vertex, index]));
    sorted.push(next);
  }
  return sorted;
}

function mean(vertices: readonly number[], places: ReadonlyMap<number, number>): number | null {
  if (vertices.length === 0) return null;
  return vertices.reduce((sum, vertex) => sum + (places.get(vertex) ?? 0), 0) / vertices.length;
}

/** How many pairs of edges cross. */
function crossings(order: Layers['order'], forward: readonly (readonly number[])[]): number {
  let count = 0;
  for (let layer = 0; layer + 1 < order.length; layer++) {
    const places = new Map(order[layer + 1]?.map((vertex, index) => [vertex, index]));
    const ends = (order[layer] ?? []).flatMap((vertex) =>
      (forward[vertex] ?? []).map((to) => places.get(to) ?? 0).sort((a, b) => a - b),
    );
    count += inversions(ends, places.size);
  }
  return count;
}

/** Pairs in which the larger number comes first, counted with a Fenwick tree. */
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
