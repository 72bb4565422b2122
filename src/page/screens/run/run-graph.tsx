import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunView } from '../../api/types.ts';
import type { ShownRun } from '../../data/run.ts';
import { GraphCanvas } from '../../graph/graph-canvas.tsx';
import { useDrawnGraph } from '../../graph/use-drawn-graph.ts';
import { type PlacedNode, StepBox } from '../../run-view/graph-box.tsx';
import { DETAIL_ROOM } from '../../run-view/step-text.ts';
import { hrefOfStep } from './run-address.ts';

type GraphProps = {
  readonly run: ShownRun;
  readonly graph: NonNullable<RunView['graph']>;
  readonly selected: string | null;
  readonly critical: ReadonlySet<string>;
};

/** The steps of a run as a drawing, in which each can be chosen. */
export function RunGraph({ run, graph, selected, critical }: GraphProps): JSX.Element {
  const drawn = useDrawnGraph(graph, DETAIL_ROOM);
  const statuses = useMemo(
    () => ({
      changes: run.steps,
      statusOf: (number: number) => run.step(drawn?.graph.names[number] ?? '').peek()?.status ?? 'pending',
    }),
    [run, drawn],
  );
  return (
    <GraphCanvas
      drawn={drawn}
      run={statuses}
      selected={selected}
      critical={critical}
      drawNode={(node) => (
        <Node run={run} node={node} isSelected={node.name === selected} isCritical={critical.has(node.name)} />
      )}
    />
  );
}

type NodeProps = {
  readonly run: ShownRun;
  readonly node: PlacedNode;
  readonly isSelected: boolean;
  readonly isCritical: boolean;
};

/** One step, drawn again alone when it changes. */
function Node({ run, node, ...state }: NodeProps): JSX.Element | null {
  const step = run.step(node.name).value;
  if (step === null) return null;
  return <StepBox node={node} step={step} href={hrefOfStep(node.name)} {...state} />;
}
