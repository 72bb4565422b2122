import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type DrawnGraph, drawGraph } from './draw-graph.ts';
import type { NamedGraph } from './shape.ts';

/** A graph with its layout, once that is known; it is laid out again only when its steps or edges change. */
export function useDrawnGraph(graph: NamedGraph, detail: string): DrawnGraph | 'too-large' | null {
  const drawn = useSignal<DrawnGraph | 'too-large' | null>(null);
  const key = JSON.stringify([graph.nodes.map(({ name }) => name), graph.edges]);
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
