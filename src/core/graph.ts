import { allSteps, type Step, type Workflow } from './workflow.ts';

/**
 * A workflow's steps as numbered nodes, in the order of the file, with their dependencies in both directions. The
 * workflow's handlers follow as further nodes without edges; in a run, the instances of fan-outs follow these.
 */
export type Graph = {
  /** Steps first, then handlers, then instances. */
  readonly nodes: readonly Step[];
  /** Nodes with a smaller number are steps. */
  readonly stepCount: number;
  /** For each node, the nodes that it waits for, in the order of its `depends`. */
  readonly dependencies: readonly (readonly number[])[];
  /** For each node, the nodes that wait for it, in the order of the file. */
  readonly dependents: readonly (readonly number[])[];
  /** The steps that are services. */
  readonly services: readonly number[];
  /** Node numbers by name. */
  readonly index: ReadonlyMap<string, number>;
};

/** Returns the graph with further nodes without edges, after all others. */
export function withNodes(graph: Graph, nodes: readonly Step[]): Graph {
  const first = graph.nodes.length;
  const noEdges = nodes.map(() => []);
  return {
    ...graph,
    nodes: [...graph.nodes, ...nodes],
    dependencies: [...graph.dependencies, ...noEdges],
    dependents: [...graph.dependents, ...noEdges],
    index: new Map([...graph.index, ...nodes.map(({ name }, number) => [name, first + number] as const)]),
  };
}

/** Builds the graph of a checked workflow. Throws if a step depends on a step that does not exist. */
export function buildGraph(workflow: Pick<Workflow, 'steps' | 'handlers'>): Graph {
  const nodes = allSteps(workflow);
  const index = new Map(nodes.map((node, number) => [node.name, number]));
  const stepCount = workflow.steps.length;
  const dependencies = nodes.map((node, number) =>
    number < stepCount ? node.depends.map((name) => lookUp(index, name)) : [],
  );
  const services = workflow.steps.flatMap(({ service }, number) => (service === undefined ? [] : [number]));
  return { nodes, stepCount, dependencies, dependents: reversed(dependencies), services, index };
}

/**
 * The number of the step or handler with that name. Throws if there is none, which means a bug or a damaged journal.
 */
export function nodeIndex(graph: Graph, name: string): number {
  return lookUp(graph.index, name);
}

/** Whether the workflow has a step (not a handler) with that name. */
export function isStep(graph: Graph, name: string): boolean {
  const number = graph.index.get(name);
  return number !== undefined && number < graph.stepCount;
}

/** The step or handler with that number. Throws if there is none. */
export function nodeAt(graph: Graph, number: number): Step {
  const node = graph.nodes[number];
  if (node === undefined) throw new RangeError(`The workflow has no node ${number}.`);
  return node;
}

function lookUp(index: ReadonlyMap<string, number>, name: string): number {
  const number = index.get(name);
  if (number === undefined) throw new RangeError(`The workflow has no step "${name}".`);
  return number;
}

/** The steps of a run that is to run a part of its workflow, by name; absent: all, and none. */
export type StepSelection = { readonly only?: readonly string[]; readonly skip?: readonly string[] };

/**
 * Returns the steps that a selection leaves out: those that are skipped, those that no step of `only` needs, and services
 * that only such steps use. Names that the graph does not have count for nothing.
 */
export function leftOut(graph: Graph, selection: StepSelection | undefined): ReadonlySet<string> {
  if (selection === undefined) return new Set();
  const { only, skip = [] } = selection;
  const numbered = (names: readonly string[]) => names.flatMap((name) => graph.index.get(name) ?? []);
  const needed = only === undefined ? null : closure(numbered(only), (index) => graph.dependencies[index] ?? []);
  const out = new Set(numbered(skip));
  for (let index = 0; index < graph.stepCount; index += 1) if (needed?.has(index) === false) out.add(index);
  for (const service of graph.services.toReversed()) {
    const users = graph.dependents[service] ?? [];
    const isNamed = only?.includes(nodeAt(graph, service).name);
    if (!isNamed && users.length > 0 && users.every((user) => out.has(user))) out.add(service);
  }
  return new Set([...out].sort((a, b) => a - b).map((index) => nodeAt(graph, index).name));
}

/** Returns the numbers and all that can be reached from them. */
export function closure(start: Iterable<number>, next: (index: number) => readonly number[]): ReadonlySet<number> {
  const reached = new Set(start);
  for (const index of reached) for (const neighbour of next(index)) reached.add(neighbour);
  return reached;
}

function reversed(dependencies: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const dependents: number[][] = dependencies.map(() => []);
  dependencies.forEach((numbers, dependent) => {
    for (const number of numbers) dependents[number]?.push(dependent);
  });
  return dependents;
}

/** Returns the steps by the length of the longest path to them; those of each length are in the order of the file. */
export function waves(graph: Pick<Graph, 'stepCount' | 'dependencies' | 'dependents'>): readonly (readonly number[])[] {
  const lengths = new Array<number>(graph.stepCount).fill(0);
  const found: number[][] = [];
  for (const node of drawingOrder(graph)) {
    const numbers = graph.dependencies[node] ?? [];
    const length = numbers.reduce((longest, number) => Math.max(longest, (lengths[number] ?? 0) + 1), 0);
    lengths[node] = length;
    found[length] ??= [];
    found[length]?.push(node);
  }
  return found.map((nodes) => nodes.sort((a, b) => a - b));
}

/** Returns the steps in topological order: depth first, so that chains stay together, else in the order of the file. */
export function drawingOrder(graph: Pick<Graph, 'stepCount' | 'dependencies' | 'dependents'>): readonly number[] {
  const unmet = graph.dependencies.slice(0, graph.stepCount).map((numbers) => numbers.length);
  const stack = unmet.flatMap((count, number) => (count === 0 ? [number] : [])).reverse();
  const order: number[] = [];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    order.push(node);
    const ready = (graph.dependents[node] ?? []).filter((dependent) => {
      unmet[dependent] = (unmet[dependent] ?? 0) - 1;
      return unmet[dependent] === 0;
    });
    stack.push(...ready.reverse());
  }
  return order;
}
