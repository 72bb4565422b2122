import { drawingOrder, type Graph } from '#core/graph.ts';

/** One row of the drawing: a node, its lane, and the state of every lane. */
export type LaneRow = {
  readonly node: number;
  /** The lane of the node. */
  readonly column: number;
  /** The state of each lane in this row, from the left. */
  readonly lanes: readonly Lane[];
  /** Whether the node starts a new component directly below an unrelated row. */
  readonly apart: boolean;
};

/**
 * A lane carries the edges of one node down to its dependents: it is free, passes the node of this row, leads to it and
 * continues, or leads to it and ends.
 */
export type Lane = 'free' | 'past' | 'through' | 'end';

/**
 * Places the steps one below the other, each below its dependencies and close to the previous one. Returns null if more than
 * `mostLanes` lanes would be needed, since such a drawing is unreadable.
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

/** Frees the lanes that have ended and drops unused ones on the right. */
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

/** Returns the leftmost lane that ends here, else the leftmost free one that `taken` allows. */
function columnOf(lanes: readonly Lane[], taken: readonly boolean[]): number {
  const end = lanes.indexOf('end');
  if (end !== -1) return end;
  let column = 0;
  while (column < lanes.length && (lanes[column] !== 'free' || taken[column])) column++;
  return column;
}
