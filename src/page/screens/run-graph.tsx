import type { JSX } from 'preact';
import type { RunView } from '../api/types.ts';
import type { ShownRun } from '../data/run.ts';
import { useDrawnGraph } from '../graph/use-drawn-graph.ts';
import { type PlacedNode, StepBox } from '../run-view/graph-box.tsx';
import { GraphDrawing } from '../run-view/graph-drawing.tsx';
import { DETAIL_ROOM } from '../run-view/step-text.ts';
import { hrefOfStep } from './run-address.ts';

type GraphProps = {
  readonly run: ShownRun;
  readonly graph: NonNullable<RunView['graph']>;
  readonly selected: string | null;
};

/** The steps of a run as a drawing, in which each can be chosen. */
export function RunGraph({ run, graph, selected }: GraphProps): JSX.Element {
  const drawn = useDrawnGraph(graph, DETAIL_ROOM);
  return (
    <GraphDrawing
      drawn={drawn}
      drawNode={(node) => <Node run={run} node={node} isSelected={node.name === selected} />}
    />
  );
}

/** One step, drawn again alone when it changes. */
function Node(props: { run: ShownRun; node: PlacedNode; isSelected: boolean }): JSX.Element | null {
  const { run, node, isSelected } = props;
  const step = run.step(node.name).value;
  if (step === null) return null;
  return <StepBox node={node} step={step} href={hrefOfStep(node.name)} isSelected={isSelected} />;
}
