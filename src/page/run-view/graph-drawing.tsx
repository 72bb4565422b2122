import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { drawing, type GraphItem } from '../../render/report/graph/graph-items.ts';
import { arrowPath, edgePath } from '../../render/report/graph/graph-paths.ts';
import type { DrawnGraph } from '../graph/draw-graph.ts';
import { usePan } from '../graph/use-pan.ts';
import { Frame, type PlacedNode } from './graph-box.tsx';
import { counted } from './step-text.ts';

/** A drawing is not made smaller than this to fit. */
const SMALLEST_SCALE = 0.6;

type DrawingProps = {
  /** Null: it is still being laid out. */
  readonly drawn: DrawnGraph | 'too-large' | null;
  readonly drawNode: (node: PlacedNode) => ComponentChildren;
};

/** The steps of a graph with what depends on what. */
export function GraphDrawing({ drawn, drawNode }: DrawingProps): JSX.Element {
  const isFit = useSignal(true);
  const canvas = useRef<HTMLElement>(null);
  usePan(canvas);
  const width = drawn === null || drawn === 'too-large' ? 0 : drawn.layout.width;
  useLayoutEffect(() => {
    // Names must stay readable: a narrow screen shows a part of the drawing.
    isFit.value = (canvas.current?.clientWidth ?? width) >= width * SMALLEST_SCALE;
  }, [width]);
  if (drawn === null) return <div class="canvas" aria-busy="true" />;
  if (drawn === 'too-large') {
    return (
      <p class="note">The graph has too many steps to be followed in a drawing. The list of steps has them all.</p>
    );
  }
  const { height } = drawn.layout;
  return (
    <div class="graph-area">
      <button
        type="button"
        class="plain zoom"
        onClick={() => {
          isFit.value = !isFit.value;
        }}
      >
        {isFit.value ? '100 %' : 'Fit'}
      </button>
      <section class="canvas" ref={canvas} tabIndex={0} aria-label="Graph">
        <svg
          class={`graph ${isFit.value ? 'fit' : ''}`}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
        >
          <Edges drawn={drawn} />
          <Items drawn={drawn} drawNode={drawNode} />
        </svg>
      </section>
    </div>
  );
}

function Edges({ drawn: { layout } }: { drawn: DrawnGraph }): JSX.Element {
  const paths = useMemo(() => [edgePath(layout), arrowPath(layout)], [layout]);
  return (
    <>
      <path class="edges" d={paths[0]} />
      <path class="arrows" d={paths[1]} />
    </>
  );
}

function Items({ drawn, drawNode }: { drawn: DrawnGraph; drawNode: DrawingProps['drawNode'] }): JSX.Element {
  const { items, layout } = drawn;
  return (
    <>
      {items.map((item, index) => (
        <svg key={item.nodes[0]} {...(layout.boxes[index] ?? { x: 0, y: 0 })} width={item.width} height={item.height}>
          {item.grid !== null && (
            <>
              <Frame name="block" radius={9} width={item.width} height={item.height} />
              <text class="detail" x={drawing.padding + 2} y="21">
                {counted(item.nodes.length, 'step')}
              </text>
            </>
          )}
          {item.nodes.map((number, place) => {
            const { width, height } = sizeIn(item);
            return (
              <svg key={number} {...positionIn(item, place)} width={width} height={height}>
                {drawNode(placedNode(drawn, item, number))}
              </svg>
            );
          })}
        </svg>
      ))}
    </>
  );
}

function placedNode({ graph }: DrawnGraph, item: GraphItem, number: number): PlacedNode {
  return {
    number,
    name: graph.names[number] ?? '',
    needs: (graph.dependencies[number] ?? []).map((needed) => graph.names[needed] ?? ''),
    form: item.grid === null ? 'box' : item.grid.isNamed ? 'named' : 'square',
    ...sizeIn(item),
  };
}

function sizeIn({ grid, width, height }: GraphItem): { readonly width: number; readonly height: number } {
  return grid === null ? { width, height } : { width: grid.cellWidth, height: grid.cellHeight };
}

function positionIn({ grid }: GraphItem, place: number): { readonly x: number; readonly y: number } {
  if (grid === null) return { x: 0, y: 0 };
  const { padding, cellGap, titleHeight } = drawing;
  return {
    x: padding + (place % grid.columns) * (grid.cellWidth + cellGap),
    y: padding + titleHeight + Math.floor(place / grid.columns) * (grid.cellHeight + cellGap),
  };
}
