import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { ErrorBoundary, lazy, useLocation } from 'preact-iso';
import type { RunView } from '#run-view/api/types.ts';
import { FOLD_ROOM, type Unfolding } from '#run-view/fan-out/instance.ts';
import type { GraphLabel } from '#run-view/graph/graph-items.ts';
import { type PlacedNode, StepBox } from '#run-view/graph-box.tsx';
import { DETAIL_ROOM } from '#run-view/step-text.ts';
import type { ShownRun } from '../../data/run.ts';
import { GraphCanvas } from '../../graph/graph-canvas.tsx';
import { useDrawnGraph } from '../../graph/use-drawn-graph.ts';
import { hrefOfStep } from './run-address.ts';

const FanOutBox = lazy(() => import('#run-view/fan-out/fan-out-box.tsx').then((part) => part.FanOutBox));

type GraphProps = {
  readonly run: ShownRun;
  readonly graph: NonNullable<RunView['graph']>;
  /** The name of the selected step or instance, and of its step. */
  readonly selected: string | null;
  readonly selectedStep: string | null;
  readonly critical: ReadonlySet<string>;
  readonly unfolding: Unfolding;
};

/** The steps of a run as a graph; each can be selected. */
export function RunGraph({ run, graph, selected, selectedStep, critical, unfolding }: GraphProps): JSX.Element {
  const fanOuts = useMemo(
    () => new Set(graph.nodes.filter(({ isFanOut }) => isFanOut).map(({ name }) => name)),
    [graph],
  );
  const labelOf = (name: string): GraphLabel => {
    if (!fanOuts.has(name)) return { name, detail: DETAIL_ROOM };
    const items = unfolding.names.has(name) ? run.step(name).peek()?.items : undefined;
    return {
      // The length for any number of instances: boxes never move.
      name: `${name} x1000`,
      detail: `${DETAIL_ROOM} · 999/1000`,
      room: FOLD_ROOM,
      ...(items && { instances: items.map(({ key }) => ({ name: key, detail: '' })) }),
    };
  };
  const drawn = useDrawnGraph(graph, { labelOf, version: [...unfolding.names].join('\n') });
  const statuses = useMemo(
    () => ({
      changes: run.steps,
      statusOf: (number: number) => run.step(drawn?.graph.names[number] ?? '').peek()?.status ?? 'pending',
    }),
    [run, drawn],
  );
  const chosen = useSignal(selected);
  useLayoutEffect(() => {
    chosen.value = selected;
  }, [selected]);
  // The function is reused, so that another selection redraws the boxes that it concerns only.
  const drawNode = useMemo(
    () => (node: PlacedNode) => (
      <Node run={run} node={node} chosen={chosen} isCritical={critical.has(node.name)} unfolding={unfolding} />
    ),
    [run, critical, unfolding],
  );
  return <GraphCanvas drawn={drawn} run={statuses} selected={selectedStep} critical={critical} drawNode={drawNode} />;
}

type NodeProps = {
  readonly run: ShownRun;
  readonly node: PlacedNode;
  /** The name of the selected step or instance. */
  readonly chosen: ReadonlySignal<string | null>;
  readonly isCritical: boolean;
  readonly unfolding: Unfolding;
};

/** One step, which is redrawn alone when it changes. */
function Node({ run, node, chosen, isCritical, unfolding }: NodeProps): JSX.Element | null {
  /** The selected step or instance if it is in this box. */
  const selected = useComputed(() => {
    const name = chosen.value;
    return name === node.name || name?.startsWith(`${node.name}[`) ? name : null;
  }).value;
  const { route } = useLocation();
  const step = run.step(node.name).value;
  if (step === null) return null;
  const href = hrefOfStep(node.name);
  if (step.items === undefined || node.form !== 'box')
    return <StepBox node={node} step={step} href={href} isSelected={node.name === selected} isCritical={isCritical} />;
  return (
    <ErrorBoundary>
      <FanOutBox
        node={node}
        step={step}
        href={href}
        hrefOfInstance={(key) => hrefOfStep(node.name, key)}
        choose={(key) => route(hrefOfStep(node.name, key))}
        selected={selected}
        isCritical={isCritical}
        unfolding={unfolding}
      />
    </ErrorBoundary>
  );
}
