import type { Dependencies } from './graph/graph-items.ts';

/** The steps of a graph by number, with their dependencies in both directions; without handlers. */
export type NumberedGraph = Dependencies & { readonly names: readonly string[] };

/** A graph as the API describes it. */
export type NamedGraph = {
  readonly nodes: readonly { readonly name: string; readonly handler: string | null }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
};

/** Numbers the steps of a graph. */
export function numberedGraph({ nodes, edges }: NamedGraph): NumberedGraph {
  const names = nodes.filter(({ handler }) => handler === null).map(({ name }) => name);
  const numbers = new Map(names.map((name, number) => [name, number]));
  const dependencies: number[][] = names.map(() => []);
  const dependents: number[][] = names.map(() => []);
  for (const { from, to } of edges) {
    const [start, end] = [numbers.get(from), numbers.get(to)];
    if (start === undefined || end === undefined) continue;
    dependencies[end]?.push(start);
    dependents[start]?.push(end);
  }
  return { names, stepCount: names.length, dependencies, dependents };
}
