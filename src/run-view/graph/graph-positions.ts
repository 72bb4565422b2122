import { flipped, type Layers, neighbours } from './graph-layers.ts';

const rounds = 6;
/** Weight of a straight edge through a layer; a straight row of boxes has weight 1. */
const bendWeight = 4;

/**
 * The centre of each vertex across the layers: near the mean position of its neighbours, in the order of its layer, and
 * no closer to the next vertex than their sizes and the gap allow.
 */
export function placeAcross(layers: Layers, sizes: readonly number[], gap: number): readonly number[] {
  const { vertices, order, edges } = layers;
  const after = neighbours(vertices.length, edges);
  const before = neighbours(vertices.length, edges.map(flipped));
  const places = new Array<number>(vertices.length).fill(0);
  const weights = vertices.map(({ item }) => (item === null ? bendWeight : 1));
  const settle = (layer: readonly number[], towards: readonly (readonly number[])[]): void => {
    const wanted = layer.map((vertex) => mean(towards[vertex] ?? [], places) ?? places[vertex] ?? 0);
    const offsets = offsetsOf(layer, sizes, gap);
    const free = wanted.map((place, index) => place - (offsets[index] ?? 0));
    const fitted = ascending(
      free,
      layer.map((vertex) => weights[vertex] ?? 1),
    );
    layer.forEach((vertex, index) => {
      places[vertex] = (fitted[index] ?? 0) + (offsets[index] ?? 0);
    });
  };
  for (const layer of order) settle(layer, before);
  for (let round = 0; round < rounds; round++) {
    for (const layer of order.toReversed()) settle(layer, after);
    for (const layer of order) settle(layer, before);
  }
  const both = before.map((list, vertex) => [...list, ...(after[vertex] ?? [])]);
  for (const layer of order) settle(layer, both);
  return places;
}

function mean(vertices: readonly number[], places: readonly number[]): number | null {
  if (vertices.length === 0) return null;
  return vertices.reduce((sum, vertex) => sum + (places[vertex] ?? 0), 0) / vertices.length;
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
