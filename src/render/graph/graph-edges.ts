import type { Graph } from '#core/graph.ts';

/** Returns every dependency as the indexes of its two nodes, in the order of the file. */
export function graphEdges(graph: Graph): readonly (readonly [from: number, to: number])[] {
  return graph.dependencies.flatMap((numbers, to) => numbers.map((from) => [from, to] as const));
}
