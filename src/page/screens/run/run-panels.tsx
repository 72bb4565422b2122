import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { RunHead, RunView, StepView } from '#run-view/api/types.ts';
import { criticalPath } from '#run-view/components.ts';
import { type GraphLabel, type PlacedNode, StepBox } from '#run-view/graph.ts';
import { DETAIL_ROOM, earlierRunOf, FOLD_ROOM, type Unfolding } from '#run-view/texts.ts';
import { useResource } from '../../data/resource.ts';
import { readEarlier, type ShownRun } from '../../data/shown-run.ts';
import { useDrawnGraph } from '../../graph/drawn-graph.ts';
import { GraphCanvas } from '../../graph/graph-canvas.tsx';
import { Tabs } from '../../parts/controls.tsx';
import { onDemand, useQuery } from '../../parts/screen.tsx';
import { hrefOfStep } from './run-address.ts';

const RunArtifacts = onDemand(() => import('./run-artifacts.tsx').then((part) => part.RunArtifacts));
const RunComparison = onDemand(() => import('./run-comparison.tsx').then((part) => part.RunComparison));
const StepRows = onDemand(() => import('./run-steps.tsx').then((part) => part.StepRows));
const RunTimeline = onDemand(() => import('./run-timeline.tsx').then((part) => part.RunTimeline));

type PanelProps = { run: ShownRun; head: RunHead; steps: readonly StepView[]; selected: string | null };

/** The steps of a run in several views, which share one selection. */
export function RunPanels({ run, head, steps, selected }: PanelProps) {
  const [query, change] = useQuery();
  const graph = run.view.value?.graph ?? null;
  const names =
    graph === null
      ? (['Steps', 'Timeline', 'Compare', 'Artifacts'] as const)
      : (['Graph', 'Timeline', 'Steps', 'Compare', 'Artifacts'] as const);
  const view = names.find((name) => name.toLowerCase() === query['view']) ?? names[0];
  const handlers = run.handlers.value;
  const before = useResource(() => readEarlier(head), [head.runId]).value?.chosen ?? null;
  const earlier = useMemo(() => before && earlierRunOf(before), [before]);
  const critical = useCriticalPath(run, head, steps);
  const unfolding = useUnfolding(query['item'] === undefined ? null : selected);
  const item = steps.find(({ name }) => name === selected)?.items?.find(({ key }) => key === query['item']);
  const selectedName = item?.name ?? selected;
  // The element is reused, so that it is not redrawn: a step that changes redraws its own box.
  const drawing = useMemo(
    () =>
      graph !== null && (
        <RunGraph
          run={run}
          graph={graph}
          selected={selectedName}
          selectedStep={selected}
          critical={critical}
          unfolding={unfolding}
        />
      ),
    [run, graph, selectedName, selected, critical, unfolding],
  );
  return (
    <section class="card pane steps-pane" aria-label="Steps of the run">
      <Tabs
        names={names}
        current={view}
        keys={['1', '2', '3', '7', '8']}
        onChoose={(name) => change({ view: name === names[0] ? '' : name.toLowerCase() })}
      />
      {view === 'Graph' && drawing}
      {view === 'Graph' && handlers.length > 0 && (
        <StepRows
          label="Handlers"
          steps={steps.filter(({ name }) => handlers.includes(name))}
          selected={selected}
          earlier={earlier}
        />
      )}
      {view === 'Steps' && <StepRows steps={steps} selected={selectedName} earlier={earlier} unfolding={unfolding} />}
      {view === 'Compare' && <RunComparison head={head} steps={steps} />}
      {view === 'Artifacts' && <RunArtifacts head={head} steps={steps} />}
      {view === 'Timeline' && (
        <RunTimeline
          run={run}
          head={head}
          steps={steps}
          selected={selectedName}
          critical={critical}
          unfolding={unfolding}
        />
      )}
    </section>
  );
}

/** Only for a finished run: the path of a running one changes with every step. */
function useCriticalPath(run: ShownRun, head: RunHead, steps: readonly StepView[]): ReadonlySet<string> {
  const view = run.view.value;
  const isFinished = head.finishedAt !== null;
  return useMemo(() => {
    if (!isFinished || view === null) return new Set();
    return new Set(criticalPath(steps.slice(0, view.steps.length), view.graph?.edges ?? []));
  }, [view, isFinished, isFinished && steps]);
}

/** The expanded fan-outs, at first the one with the selected instance. */
function useUnfolding(first: string | null): Unfolding {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set(first === null ? [] : [first]));
  return useMemo(() => {
    const toggle = (step: string) =>
      setNames((known) => new Set(known.has(step) ? [...known].filter((name) => name !== step) : [...known, step]));
    return { names, toggle };
  }, [names]);
}

const FanOutBox = onDemand(() => import('#run-view/fan-out/fan-out-box.tsx').then((part) => part.FanOutBox));

type GraphProps = {
  readonly run: ShownRun;
  readonly graph: NonNullable<RunView['graph']>;
  /** The name of the selected step or instance, and of its step. */
  readonly selected: string | null;
  readonly selectedStep: string | null;
  readonly critical: ReadonlySet<string>;
  readonly unfolding: Unfolding;
};

function RunGraph({ run, graph, selected, selectedStep, critical, unfolding }: GraphProps) {
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
  const drawn = useDrawnGraph(graph, labelOf, [...unfolding.names].join('\n'));
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
  readonly chosen: ReadonlySignal<string | null>;
  readonly isCritical: boolean;
  readonly unfolding: Unfolding;
};

/** One step, which is redrawn alone when it changes. */
function Node({ run, node, chosen, isCritical, unfolding }: NodeProps) {
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
  );
}
