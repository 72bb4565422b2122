import type { Graph } from '../../core/graph.ts';

/** One row of the drawing: a node, where it stands, and what every lane does beside it. */
export type LaneRow = {
  readonly node: number;
  /** The lane in which the node stands. */
  readonly column: number;
  /** For each lane from the left what is in it in this row. */
  readonly lanes: readonly Lane[];
  /** The node begins something of its own right below a row that has nothing to do with it. */
  readonly apart: boolean;
};

/**
 * A lane carries the edges of one node down to the nodes that depend on it: it can be free, go past this row's node,
 * lead to it and on to others, or lead to it and end.
 */
export type Lane = 'free' | 'past' | 'through' | 'end';

/**
 * Lays the steps out one below the other, each below all it depends on, close to the one drawn before it. Null as soon
 * as more than `mostLanes` would lie side by side, since what nobody can follow need not be worked out.
 */
export function layOutLanes(graph: Graph, mostLanes: number): readonly LaneRow[] | null {
  const left = graph.dependents.map((numbers) => numbers.length);
  const owners: (number | null)[] = [];
  const rows: LaneRow[] = [];
  let taken: readonly boolean[] = [];
  for (const node of drawingOrder(graph)) {
    const needs = new Set(graph.dependencies[node]);
    for (const number of needs) left[number] = (left[number] ?? 0) - 1;
    const lanes = owners.map((owner) => laneOf(owner, needs, left));
    const apart = rows.length > 0 && lanes.every((lane) => lane === 'free');
    const column = columnOf(lanes, needs.size === 0 && !apart ? taken : []);
    const width = Math.max(lanes.length, column + 1);
    if (width > mostLanes) return null;
    rows.push({ node, column, lanes, apart });
    taken = Array.from({ length: width }, (_, at) => at === column || (lanes[at] ?? 'free') !== 'free');
    moveOn(owners, lanes);
    owners[column] = (left[node] ?? 0) > 0 ? node : null;
  }
  return rows;
}

/** Frees the lanes that have ended, and forgets those on the right that nobody uses. */
function moveOn(owners: (number | null)[], lanes: readonly Lane[]): void {
  lanes.forEach((lane, at) => {
    if (lane === 'end') owners[at] = null;
  });
  while (owners.length > 0 && owners.at(-1) === null) owners.pop();
}

function laneOf(owner: number | null, needs: ReadonlySet<number>, left: readonly number[]): Lane {
  if (owner === null) return 'free';
  if (!needs.has(owner)) return 'past';
  return left[owner] === 0 ? 'end' : 'through';
}

/** The leftmost lane that ends here, else the leftmost free one that `taken` allows. */
function columnOf(lanes: readonly Lane[], taken: readonly boolean[]): number {
  const end = lanes.indexOf('end');
  if (end !== -1) return end;
  let column = 0;
  while (column < lanes.length && (lanes[column] !== 'free' || taken[column])) column++;
  return column;
}

/** The steps, each after all it depends on: depth first, so that a chain stays together, else as in the file. */
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
