import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { GraphLabel } from '#run-view/graph/graph-items.ts';
import type { DrawnGraph } from '#run-view/graph-drawing.tsx';
import type { NamedGraph } from '#run-view/graph-numbers.ts';
import { drawGraph } from './draw-graph.ts';

type Labels = {
  readonly labelOf: (name: string) => GraphLabel;
  /** Changes with the labels. */
  readonly version: string;
};

/**
 * Returns a graph with its layout, once it is known; the layout is computed again only when steps, edges or labels
 * change.
 */
export function useDrawnGraph(graph: NamedGraph, { labelOf, version }: Labels): DrawnGraph | null {
  const drawn = useSignal<DrawnGraph | null>(null);
  const key = useMemo(
    () => JSON.stringify([graph.nodes.map(({ name }) => name), graph.edges, version]),
    [graph, version],
  );
  useEffect(() => {
    let isOver = false;
    drawGraph(graph, labelOf).then((result) => {
      if (!isOver) drawn.value = result;
    });
    return () => {
      isOver = true;
    };
  }, [key]);
  return drawn.value;
}
