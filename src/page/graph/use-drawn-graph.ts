import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { DrawnGraph } from '../run-view/graph-drawing.tsx';
import type { NamedGraph } from '../run-view/graph-numbers.ts';
import { drawGraph } from './draw-graph.ts';

/** A graph with its layout, once that is known; it is laid out again only when its steps or edges change. */
export function useDrawnGraph(graph: NamedGraph, detail: string): DrawnGraph | null {
  const drawn = useSignal<DrawnGraph | null>(null);
  const key = useMemo(() => JSON.stringify([graph.nodes.map(({ name }) => name), graph.edges]), [graph]);
  useEffect(() => {
    let isOver = false;
    drawGraph(graph, detail).then((result) => {
      if (!isOver) drawn.value = result;
    });
    return () => {
      isOver = true;
    };
  }, [key]);
  return drawn.value;
}
