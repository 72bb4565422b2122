import type { ComponentChildren } from 'preact';
import { waves } from '#core/graph.ts';
import type { StepView } from '../api/types.ts';
import { counted } from '../texts.ts';
import { Frame, type PlacedNode } from './graph-box.tsx';
import { block, type Dependencies, drawing, type GraphItem, type Grid } from './graph-items.ts';
import type { GraphLayout } from './graph-layout.ts';

/** A graph with the positions of its boxes. */
export type DrawnGraph = {
  readonly graph: NumberedGraph;
  readonly items: readonly GraphItem[];
  readonly layout: GraphLayout;
};

type DrawNode = (node: PlacedNode) => ComponentChildren;

/** All edges, and those of a highlighted path above them. */
export function Edges({ layout, path }: { layout: GraphLayout; path: string }) {
  return (
    <>
      <path class="edges" d={edgePath(layout)} />
      <path class="arrows" d={arrowPath(layout)} />
      {path !== '' && <path class="edges critical" d={path} />}
    </>
  );
}

type ItemProps = {
  readonly drawn: DrawnGraph;
  readonly index: number;
  readonly drawNode: DrawNode;
  /** Whether to draw a step, by its number; default: all. */
  readonly isShown?: (step: number) => boolean;
  /** The steps that match the search; null: no search. */
  readonly found?: ReadonlySet<number> | null;
  readonly aboutBlock?: (nodes: readonly number[]) => string;
};

/** A step, or a block of steps with the same dependencies and dependents. */
export function Item({ drawn, index, drawNode, isShown, found = null, aboutBlock }: ItemProps) {
  const item = drawn.items[index];
  if (item === undefined) return null;
  const { x, y } = drawn.layout.boxes[index] ?? { x: 0, y: 0 };
  return (
    <svg x={x} y={y} width={item.width} height={item.height}>
      {item.grid !== null && (
        <>
          <Frame name="block" radius={9} width={item.width} height={item.height} />
          <text class="detail" x={drawing.padding + 2} y="21">
            {counted(item.nodes.length, 'step')}
            {aboutBlock?.(item.nodes)}
          </text>
        </>
      )}
      {item.nodes.map((number, cell) => {
        const { width, height } = sizeIn(item);
        if (isShown?.(number) === false) return null;
        return (
          <svg
            key={number}
            {...positionIn(item, cell)}
            width={width}
            height={height}
            class={found?.has(number) ? 'found' : undefined}
            data-step={number}
          >
            {drawNode(placedNode(drawn, item, number))}
          </svg>
        );
      })}
    </svg>
  );
}

function placedNode({ graph }: DrawnGraph, item: GraphItem, number: number): PlacedNode {
  return {
    number,
    name: graph.names[number] ?? '',
    needs: (graph.dependencies[number] ?? []).map((needed) => graph.names[needed] ?? ''),
    instances: item.instances ?? null,
    form: item.grid === null ? 'box' : item.grid.isNamed ? 'named' : 'square',
    ...sizeIn(item),
  };
}

/** An area of a drawing, in its pixels. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** The position of each step in a drawing, by step number. */
export function stepBoxes({ items, layout }: DrawnGraph): readonly Box[] {
  const boxes: Box[] = [];
  items.forEach((item, index) => {
    const origin = layout.boxes[index] ?? { x: 0, y: 0 };
    item.nodes.forEach((step, cell) => {
      const { x, y } = positionIn(item, cell);
      boxes[step] = { x: origin.x + x, y: origin.y + y, ...sizeIn(item) };
    });
  });
  return boxes;
}

/** The size of a step in its item. */
function sizeIn({ grid, width, height }: GraphItem): Pick<Box, 'width' | 'height'> {
  return grid === null ? { width, height } : { width: grid.cellWidth, height: grid.cellHeight };
}

/** The top left corner of a step in its item. */
function positionIn({ grid }: GraphItem, cell: number): Pick<Box, 'x' | 'y'> {
  return grid === null ? { x: 0, y: 0 } : cellAt(grid, cell, drawing.padding + drawing.titleHeight);
}

/** The top left corner of a cell of a grid that begins at `top`. */
export function cellAt({ columns, cellWidth, cellHeight }: Grid, cell: number, top: number): Pick<Box, 'x' | 'y'> {
  const { padding, cellGap } = drawing;
  return {
    x: padding + (cell % columns) * (cellWidth + cellGap),
    y: top + Math.floor(cell / columns) * (cellHeight + cellGap),
  };
}

type Pieces = Pick<GraphLayout, 'bends' | 'straights' | 'isVertical'>;

/** Edges as one SVG path: they leave and enter boxes in the direction of the drawing. */
function edgePath({ bends, straights, isVertical }: Pieces): string {
  const curves = bends.map(({ x1, y1, x2, y2 }) => {
    const [a, b] = isVertical
      ? [`${x1} ${(y1 + y2) / 2}`, `${x2} ${(y1 + y2) / 2}`]
      : [`${(x1 + x2) / 2} ${y1}`, `${(x1 + x2) / 2} ${y2}`];
    return `M${x1} ${y1}C${a} ${b} ${x2} ${y2}`;
  });
  return [...curves, ...straights.map(({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`)].join('');
}

/** The arrowheads of all edges as one SVG path. */
function arrowPath({ ends, isVertical }: GraphLayout): string {
  const arrows = ends.map(({ x, y }) => `M${x} ${y}${isVertical ? 'l-4 -7h8z' : 'l-7 -4v8z'}`);
  return [...new Set(arrows)].join('');
}

/** The edges between steps of the critical path as one SVG path. */
export function criticalEdges({ graph, items, layout }: DrawnGraph, critical: ReadonlySet<string>): string {
  const isCritical = items.map(({ nodes }) => nodes.some((node) => critical.has(graph.names[node] ?? '')));
  return edgePath(edgesBetween(layout, (from, to) => isCritical[from] === true && isCritical[to] === true));
}

/** Returns the pieces of the edges between boxes for which `isWanted` holds. */
function edgesBetween(layout: GraphLayout, isWanted: (from: number, to: number) => boolean): Pieces {
  const { links, starts, boxes } = layout;
  const arriving = new Map(links.flatMap(([from, to], index) => (to < boxes.length ? [] : [[to, { from, index }]])));
  const bends = new Set<number>();
  const passed = new Set<number>();
  links.forEach(([start, to], link) => {
    if (to >= boxes.length) return;
    // Points form a chain from the box where their edges begin.
    const chain = [{ from: start, index: link }];
    for (let at = arriving.get(start); at !== undefined; at = arriving.get(at.from)) chain.push(at);
    if (!isWanted(chain.at(-1)?.from ?? start, to)) return;
    for (const { from, index } of chain) {
      bends.add(index);
      passed.add(from);
    }
  });
  return {
    isVertical: layout.isVertical,
    bends: layout.bends.filter((_, index) => bends.has(index)),
    straights: layout.straights.filter((_, index) => passed.has(starts[index] ?? -1)),
  };
}

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

const MARGIN = 12;
const GAP = 24;

/** A graph with its layout; if it is too large for one (null), each layer is a column of squares, without edges. */
export function drawnGraph(graph: NumberedGraph, items: readonly GraphItem[], layout: GraphLayout | null): DrawnGraph {
  return layout === null ? { graph, ...layOutColumns(graph) } : { graph, items, layout };
}

function layOutColumns(graph: Dependencies): Pick<DrawnGraph, 'items' | 'layout'> {
  const items = waves(graph).map((nodes) => block(nodes, []));
  const height = Math.max(0, ...items.map((item) => item.height));
  let x = MARGIN;
  const boxes = items.map((item) => {
    const box = { x, y: MARGIN + Math.round((height - item.height) / 2) };
    x += item.width + GAP;
    return box;
  });
  const layout = { isVertical: false, width: x - GAP + MARGIN, height: height + 2 * MARGIN, boxes };
  return { items, layout: { ...layout, bends: [], straights: [], links: [], starts: [], ends: [] } };
}

type OverviewProps = {
  readonly drawn: DrawnGraph;
  readonly statusOf: (step: number) => StepView['status'];
  /** The steps that match the search; null: no search. */
  readonly found?: ReadonlySet<number> | null;
};

/** All steps as plain shapes, one path for each status, fast enough for ten thousand. */
export function GraphOverview({ drawn, statusOf, found = null }: OverviewProps) {
  const squares = stepBoxes(drawn).map((box, step) => ({ ...box, kind: statusOf(step), isFound: found?.has(step) }));
  const matches = squares.filter(({ isFound }) => isFound);
  return (
    <>
      <Squares squares={squares} name="cells" />
      <Squares squares={matches} name="cells found" />
    </>
  );
}

/** Areas as one path for each kind. */
export function Squares({ squares, name }: { squares: readonly (Box & { readonly kind: string })[]; name: string }) {
  const paths = new Map<string, string[]>();
  for (const { kind, x, y, width, height } of squares) {
    const path = paths.get(kind) ?? [];
    path.push(`M${x} ${y}h${width}v${height}h-${width}z`);
    paths.set(kind, path);
  }
  return (
    <>
      {Array.from(paths, ([kind, path]) => (
        <path key={kind} class={`${name} ${kind}`} d={path.join('')} />
      ))}
    </>
  );
}
