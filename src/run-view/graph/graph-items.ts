import type { Graph } from '#core/graph.ts';
import { clusters, escapeControls, textWidth } from '#render/text.ts';
import type { Edge, GraphShape } from './graph-layout.ts';

/** The dependencies of a workflow's steps, which are numbered in the order of the file. */
export type Dependencies = Pick<Graph, 'stepCount' | 'dependencies' | 'dependents'>;

/** What is written into the box of a step. */
export type GraphLabel = {
  readonly name: string;
  readonly detail: string;
  /** Pixels beside the name, for a control. A step with a control is drawn alone. */
  readonly room?: number;
  /** The instances of a fan-out that are drawn in its box. */
  readonly instances?: readonly GraphLabel[];
};

/** What is drawn as one: a step, or steps that depend on the same and are needed by the same. */
export type GraphItem = {
  readonly nodes: readonly number[];
  readonly width: number;
  readonly height: number;
  /** The grid of its steps; null for a single step. */
  readonly grid: Grid | null;
  /** The grid of the instances of a single step; absent if they are not drawn. */
  readonly instances?: Grid | undefined;
};

/** Parallel steps with their names or, if there are many, as squares. */
export type Grid = {
  readonly columns: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly isNamed: boolean;
};

/** Sizes in pixels, for the page's font at 13. */
export const drawing = {
  boxHeight: 42,
  titleHeight: 24,
  padding: 8,
  cellGap: 4,
  character: 7.5,
  smallCharacter: 6.2,
  icon: 34,
} as const;

const FEWEST_SIBLINGS = 8;
const MOST_NAMED = 60;
const LONGEST_NAME = 26;
const SHORTEST_NAME = 9;
const SQUARE = 14;
const MOST_MEASURED = 200;

/** The boxes of a drawing of the steps, and which leads to which; `labels` are in the order of the steps. */
export function graphItems(
  graph: Dependencies,
  labels: readonly GraphLabel[],
): { readonly items: readonly GraphItem[]; readonly shape: GraphShape } {
  const items = siblings(graph, labels).map((nodes) => {
    const drawn = nodes.flatMap((node) => labels[node] ?? []);
    return nodes.length === 1 ? box(nodes, drawn) : block(nodes, drawn);
  });
  const itemOf = new Map(items.flatMap(({ nodes }, item) => nodes.map((node) => [node, item] as const)));
  const edges = new Map<string, Edge>();
  graph.dependencies.slice(0, graph.stepCount).forEach((numbers, to) => {
    for (const from of numbers) {
      const edge: Edge = [itemOf.get(from) ?? 0, itemOf.get(to) ?? 0];
      edges.set(edge.join(' '), edge);
    }
  });
  return { items, shape: { sizes: items, edges: [...edges.values()] } };
}

/** Steps in groups: those that nothing but their names tells apart, where they are many, and each other one alone. */
function siblings(graph: Dependencies, labels: readonly GraphLabel[]): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  for (let node = 0; node < graph.stepCount; node++) {
    const own = labels[node]?.room === undefined ? '' : node;
    const key = `${own} ${graph.dependencies[node]?.toSorted().join(' ')} > ${graph.dependents[node]?.join(' ')}`;
    const group = groups.get(key) ?? [];
    group.push(node);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((nodes) =>
    nodes.length >= FEWEST_SIBLINGS ? [nodes] : nodes.map((node) => [node]),
  );
}

function box(nodes: readonly number[], labels: readonly GraphLabel[]): GraphItem {
  const [label] = labels;
  const room = label?.room ?? 0;
  const detail = Math.max(0, ...labels.map(({ detail }) => detail.length)) * drawing.smallCharacter;
  const width = drawing.icon + Math.round(Math.max(roomOfNames(labels), detail)) + 10 + room;
  if (label?.instances === undefined) return { nodes, width, height: drawing.boxHeight, grid: null };
  const inner = block(
    label.instances.map((_, index) => index),
    label.instances,
  );
  const height = inner.height - drawing.titleHeight + drawing.boxHeight - drawing.padding;
  return { nodes, width: Math.max(width, inner.width), height, grid: null, instances: inner.grid ?? undefined };
}

/** Several steps in one block; without labels as squares. */
export function block(nodes: readonly number[], labels: readonly GraphLabel[]): GraphItem {
  const isNamed = labels.length > 0 && nodes.length <= MOST_NAMED;
  const grid = isNamed
    ? { isNamed, columns: Math.ceil(nodes.length / 12), cellWidth: roomOfNames(labels) + drawing.icon, cellHeight: 26 }
    : {
        isNamed,
        columns: Math.min(40, Math.ceil(Math.sqrt(nodes.length * 1.6))),
        cellWidth: SQUARE,
        cellHeight: SQUARE,
      };
  const rows = Math.ceil(nodes.length / grid.columns);
  const { padding, cellGap, titleHeight } = drawing;
  return {
    nodes,
    grid,
    width: Math.max(120, grid.columns * (grid.cellWidth + cellGap) - cellGap + 2 * padding),
    height: rows * (grid.cellHeight + cellGap) - cellGap + titleHeight + 2 * padding,
  };
}

/** The room that the widest of the names gets. */
function roomOfNames(labels: readonly GraphLabel[]): number {
  const widest = labels
    .map(({ name }) => name.slice(0, MOST_MEASURED))
    // Common names get a little more than their estimated width.
    .map((name) => Math.max(nameWidth(name), textWidth(escapeControls(name)) * drawing.character))
    .reduce((most, width) => Math.max(most, width), SHORTEST_NAME * drawing.character);
  return Math.ceil(Math.min(LONGEST_NAME * drawing.character, widest));
}

/**
 * Widths of names in a proportional font of 13 pixels, without a browser that could measure them: the server lays graphs out
 * too. They are those of DejaVu Sans, the widest of the usual fonts, so that names are rather cut than clipped.
 */

const PLAIN = 8.3;
const WIDE = 15;
/** Characters of a similar width, in pixels. */
const classes: readonly (readonly [RegExp, number])[] = [
  [/[ijlfrtI.,:;'|!()[\]/ -]/, 5.4],
  [/[mMW%@]/, 13],
  [/[w&DGHNOQU+=<>~#]/, 10.8],
  [/[A-Z\u0370-\u04ff]/, 9.3],
];

/** The estimated width of a name in pixels. */
export function nameWidth(name: string): number {
  let width = 0;
  for (const cluster of clusters(escapeControls(name))) width += widthOf(cluster);
  return width;
}

/** Cuts a name to a width in pixels, with an ellipsis if anything was cut. */
export function fitName(name: string, pixels: number): string {
  const text = escapeControls(name);
  let width = 0;
  let whole = 0;
  let fitting = 0;
  for (const cluster of clusters(text)) {
    width += widthOf(cluster);
    if (width > pixels) return `${text.slice(0, fitting)}…`;
    whole += cluster.text.length;
    if (width <= pixels - WIDE) fitting = whole;
  }
  return text;
}

function widthOf({ text, width }: { readonly text: string; readonly width: number }): number {
  if (width !== 1) return (width * WIDE) / 2;
  return classes.find(([pattern]) => pattern.test(text))?.[1] ?? PLAIN;
}
