import type { WorkflowDetail } from '#run-view/api/types.ts';
import { PlainBox } from '#run-view/graph.ts';
import { useDrawnGraph } from '../graph/drawn-graph.ts';
import { GraphCanvas } from '../graph/graph-canvas.tsx';

/** The graph of a workflow file. */
export function FileGraph({ graph }: { graph: NonNullable<WorkflowDetail['graph']> }) {
  const drawn = useDrawnGraph(graph, (name) => ({ name, detail: 'command' }));
  const steps = graph.nodes.filter(({ handler }) => handler === null);
  return (
    <GraphCanvas
      drawn={drawn}
      drawNode={(node) => <PlainBox node={node} executor={steps[node.number]?.executor ?? ''} />}
    />
  );
}
