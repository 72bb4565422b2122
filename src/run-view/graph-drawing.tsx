import type { ComponentChildren, JSX } from 'preact';
import { drawing, type GraphItem } from './graph/graph-items.ts';
import type { GraphLayout } from './graph/graph-layout.ts';
import { arrowPath, edgePath } from './graph/graph-paths.ts';
import { Frame, type PlacedNode } from './graph-box.tsx';
import type { NumberedGraph } from './graph-numbers.ts';
import { counted } from './step-text.ts';

/** A graph with the positions of its boxes. */
export type DrawnGraph = {
  readonly graph: NumberedGraph;
  readonly items: readonly GraphItem[];
  readonly layout: GraphLayout;
};

type DrawNode = (node: PlacedNode) => ComponentChildren;

/** All edges, and those of a highlighted path above them. */
export function Edges({ layout, path }: { layout: GraphLayout; path: string }): JSX.Element {
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
  /** The number of the item. */
  readonly index: number;
  readonly drawNode: DrawNode;
  /** Whether to draw a step, by its number; default: all. */
  readonly isShown?: (step: number) => boolean;
  /** The steps that match the search; null: no search. */
  readonly found?: ReadonlySet<number> | null;
  /** A text for a block of steps, beside their number. */
  readonly aboutBlock?: (nodes: readonly number[]) => string;
};

/** A step, or a block of steps with the same dependencies and dependents. */
export function Item({ drawn, index, drawNode, isShown, found = null, aboutBlock }: ItemProps): JSX.Element | null {
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
      {item.nodes.map((number, place) => {
        const { width, height } = sizeIn(item);
        if (isShown?.(number) === false) return null;
        return (
          <svg
            key={number}
            {...positionIn(item, place)}
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

/** The size of a step in its item. */
export function sizeIn({ grid, width, height }: GraphItem): { readonly width: number; readonly height: number } {
  return grid === null ? { width, height } : { width: grid.cellWidth, height: grid.cellHeight };
}

/** The top left corner of a step in its item. */
export function positionIn({ grid }: GraphItem, place: number): { readonly x: number; readonly y: number } {
  if (grid === null) return { x: 0, y: 0 };
  const { padding, cellGap, titleHeight } = drawing;
  return {
    x: padding + (place % grid.columns) * (grid.cellWidth + cellGap),
    y: padding + titleHeight + Math.floor(place / grid.columns) * (grid.cellHeight + cellGap),
  };
}
