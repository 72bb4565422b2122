import { buildGraph, drawingOrder, type Graph, nodeAt, waves } from '#core/graph.ts';
import { labelsText } from '#core/selectors.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import { type GraphFormat, graphEdges, graphView } from '../data-views.ts';
import { artifactTexts, locksText, stepTitle } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { chooseGlyphs } from '../text/terminal-style.ts';
import { cut, padEnd, textWidth } from '../text/width.ts';

/** Draws the steps of a workflow, their dependencies, and its handlers. Ends with a line break. */
export function renderGraph(
  workflow: Workflow,
  format: GraphFormat,
  { unicode }: { readonly unicode: boolean },
): string {
  const graph = buildGraph(workflow);
  switch (format) {
    case 'ascii':
      return graphText(graph, unicode);
    case 'mermaid':
      return mermaidGraph(graph);
    case 'dot':
      return dotGraph(graph, workflow.name);
    case 'json':
      return `${JSON.stringify(graphView(graph), null, 2)}\n`;
  }
}

/** Renders the graph for Graphviz. Nodes are `n0`, `n1`...; names appear only in labels. */
function dotGraph(graph: Graph, title: string): string {
  const nodes = graph.nodes.map((node, number) => {
    const style = number < graph.stepCount ? '' : ', style=dashed';
    return `  n${number} [label=${quote(nodeLabel(node))}${style}];`;
  });
  const edges = graphEdges(graph).map(([from, to]) => `  n${from} -> n${to};`);
  return [`digraph ${quote(title)} {`, '  node [shape=box];', ...nodes, ...edges, '}', ''].join('\n');
}

/** In a quoted text of Graphviz a backslash starts an escape and `&` an HTML entity. */
function quote(text: string): string {
  const safe = escapeControls(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;');
  return `"${safe}"`;
}

/** Renders the graph as a Mermaid flowchart, which GitHub draws; `classOf` returns the class of a node, if it has one. */
export function mermaidGraph(graph: Graph, classOf: (name: string) => string | null = () => null): string {
  const nodes = graph.nodes.map((node, number) => {
    const { name } = node;
    const text = label(nodeLabel(node));
    const box = number < graph.stepCount ? `["${text}"]` : `(["${text}"])`;
    const ofClass = classOf(name);
    return `  n${number}${box}${ofClass === null ? '' : `:::${ofClass}`}`;
  });
  const edges = graphEdges(graph).map(([from, to]) => `  n${from} --> n${to}`);
  return ['flowchart TD', ...nodes, ...edges, ''].join('\n');
}

/** Escapes characters that are syntax in Mermaid or HTML by their code: `#35;` for `#`. */
function label(text: string): string {
  return escapeControls(text).replace(/["#&<>`\\;{}[\]()|*_~]/g, (character) => `#${character.codePointAt(0)};`);
}

const unicodeSigns = {
  node: '●',
  past: '│',
  across: '─',
  branch: '├',
  join: '┤',
  crossing: '┼',
  merge: '┴',
  turn: '╯',
};
type LaneSigns = typeof unicodeSigns;
const asciiSigns: LaneSigns = {
  node: '*',
  past: '|',
  across: '-',
  branch: '+',
  join: '+',
  crossing: '+',
  merge: "'",
  turn: "'",
};

const COLUMNS = 80;
/** With more lanes the drawing is unreadable, so the dependencies are written as text. */
const MOST_LANES = 16;
const WIDEST_COLUMN = 30;

/** Draws the graph as text: one row per step, with lines to its dependencies, or with their names if there are too many lines. */
function graphText(graph: Graph, unicode: boolean): string {
  const rows = layOutLanes(graph, MOST_LANES);
  const lines = rows === null ? waveLines(graph, unicode) : rows.flatMap((row) => rowLines(graph, row, unicode));
  return [...lines, ...handlerLines(graph, unicode), ''].join('\n');
}

function rowLines(graph: Graph, row: LaneRow, unicode: boolean): readonly string[] {
  const signs = unicode ? unicodeSigns : asciiSigns;
  const name = escapeControls(nodeLabel(nodeAt(graph, row.node)));
  const needs = (graph.dependencies[row.node] ?? []).length > 1 ? needsText(graph, row.node, unicode) : '';
  const line = withNeeds(`${laneText(row, signs)} ${name}`, needs, unicode);
  return row.apart ? ['', line] : [line];
}

/** Draws a row: edges from the node to its lanes cross passing lanes without breaking them. */
function laneText({ column, lanes }: LaneRow, signs: LaneSigns): string {
  const touched = lanes.flatMap((lane, at) => (lane === 'through' || lane === 'end' ? [at] : []));
  const first = Math.min(column, ...touched);
  const last = Math.max(column, ...touched);
  let text = '';
  for (let at = 0; at < Math.max(lanes.length, column + 1); at++) {
    text += at === column ? signs.node : laneSign(lanes[at] ?? 'free', { at, first, last }, signs);
    text += at >= first && at < last ? signs.across : ' ';
  }
  return text.trimEnd();
}

type Span = { readonly at: number; readonly first: number; readonly last: number };

function laneSign(lane: LaneRow['lanes'][number], { at, first, last }: Span, signs: LaneSigns): string {
  switch (lane) {
    case 'free':
      return at > first && at < last ? signs.across : ' ';
    case 'past':
      return signs.past;
    case 'through':
      if (at === first) return signs.branch;
      return at === last ? signs.join : signs.crossing;
    case 'end':
      return at === last ? signs.turn : signs.merge;
  }
}

/** For graphs that are too wide: the steps that can run together, with the names of their dependencies. */
function waveLines(graph: Graph, unicode: boolean): readonly string[] {
  const names = graph.nodes.map((node) => escapeControls(nodeLabel(node)));
  const width = Math.min(
    WIDEST_COLUMN,
    names.reduce((widest, name) => Math.max(widest, textWidth(name)), 0),
  );
  return waves(graph).flatMap((nodes, index) => [
    `wave ${index + 1}`,
    ...nodes.map((node) =>
      withNeeds(`  ${padEnd(names[node] ?? '', width)}`, needsText(graph, node, unicode), unicode).trimEnd(),
    ),
  ]);
}

function needsText(graph: Graph, node: number, unicode: boolean): string {
  const names = (graph.dependencies[node] ?? []).map((number) => escapeControls(nodeAt(graph, number).name));
  return names.length === 0 ? '' : `${chooseGlyphs(unicode).arrow} ${names.join(', ')}`;
}

/** Names are never cut; the list of dependencies is cut if the line would be too long. */
function withNeeds(line: string, needs: string, unicode: boolean): string {
  const room = COLUMNS - textWidth(line) - 2;
  return needs === '' || room < 10 ? line : `${line}  ${cut(needs, room, chooseGlyphs(unicode).ellipsis)}`;
}

function handlerLines(graph: Graph, unicode: boolean): readonly string[] {
  const handlers = graph.nodes.slice(graph.stepCount);
  if (handlers.length === 0) return [];
  const width = Math.max(...handlers.map((handler) => handler.name.length));
  const { ellipsis } = chooseGlyphs(unicode);
  return [
    '',
    ...handlers.map((handler) =>
      cut(`${padEnd(handler.name, width)}  ${stepTitle(handler)}`, COLUMNS, ellipsis).trimEnd(),
    ),
  ];
}

/** The most patterns of artifacts that a node names. */
const MAX_PATTERNS = 2;

/** The name of a node in a drawing; of a fan-out with the number of its items: `NAME x5`, `NAME xN` if it is unknown. */
function nodeLabel(step: Step): string {
  const { name, fanOut, locks, workerSelector } = step;
  const items = fanOut === undefined ? '' : ` x${typeof fanOut.items === 'string' ? 'N' : fanOut.items.length}`;
  const needs = [
    ...(locks === undefined ? [] : [locksText(locks)]),
    ...(workerSelector === undefined ? [] : [`worker ${labelsText(workerSelector)}`]),
    ...artifactTexts(step, { most: MAX_PATTERNS }),
  ];
  return `${name}${items}${needs.length === 0 ? '' : ` (${needs.join(', ')})`}`;
}

/** One row of the drawing: a node, its lane, and the state of every lane. */
type LaneRow = {
  readonly node: number;
  readonly column: number;
  readonly lanes: readonly Lane[];
  /** Whether the node starts a new component directly below an unrelated row. */
  readonly apart: boolean;
};

/** A lane carries the edges of one node: it passes the node of this row, leads to it and continues, or ends there. */
type Lane = 'free' | 'past' | 'through' | 'end';

/** Places each step below its dependencies, close to the previous one; null if more than `mostLanes` would be needed. */
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
