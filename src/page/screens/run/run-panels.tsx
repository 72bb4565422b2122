import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ErrorBoundary, lazy } from 'preact-iso';
import type { RunHead, StepView } from '#run-view/api/types.ts';
import { criticalPath } from '#run-view/critical-path.ts';
import { type EarlierRun, earlierRunOf } from '#run-view/earlier.ts';
import type { Unfolding } from '#run-view/fan-out/instance.ts';
import { readEarlier } from '../../data/earlier-runs.ts';
import { createResource } from '../../data/resource.ts';
import type { ShownRun } from '../../data/run.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { useQuery } from '../../parts/use-query.ts';
import { RunGraph } from './run-graph.tsx';

const RunComparison = lazy(() => import('./run-comparison.tsx').then((part) => part.RunComparison));
const HandlerRows = lazy(() => import('./run-steps.tsx').then((part) => part.HandlerRows));
const StepRows = lazy(() => import('./run-steps.tsx').then((part) => part.StepRows));
const RunTimeline = lazy(() => import('./run-timeline.tsx').then((part) => part.RunTimeline));

/** The number of runs searched for the last finished one. */
const MAX_EARLIER = 20;

type PanelProps = {
  readonly run: ShownRun;
  readonly head: RunHead;
  readonly steps: readonly StepView[];
  readonly selected: string | null;
};

/** The steps of a run in several views, which share one selection. */
export function RunPanels({ run, head, steps, selected }: PanelProps): JSX.Element {
  const [query, change] = useQuery();
  const graph = run.view.value?.graph ?? null;
  const names =
    graph === null ? (['Steps', 'Timeline', 'Compare'] as const) : (['Graph', 'Timeline', 'Steps', 'Compare'] as const);
  const view = names.find((name) => name.toLowerCase() === query['view']) ?? names[0];
  const handlers = run.handlers.value;
  const earlier = useEarlier(head);
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
        keys={['1', '2', '3', '7']}
        onChoose={(name) => change({ view: name === names[0] ? '' : name.toLowerCase() })}
      />
      {view === 'Graph' && drawing}
      {view === 'Graph' && handlers.length > 0 && (
        <ErrorBoundary>
          <HandlerRows
            steps={steps.filter(({ name }) => handlers.includes(name))}
            selected={selected}
            earlier={earlier}
          />
        </ErrorBoundary>
      )}
      {view === 'Steps' && (
        <ErrorBoundary>
          <StepRows steps={steps} selected={selectedName} earlier={earlier} unfolding={unfolding} />
        </ErrorBoundary>
      )}
      {view === 'Compare' && (
        <ErrorBoundary>
          <RunComparison head={head} steps={steps} />
        </ErrorBoundary>
      )}
      {view === 'Timeline' && (
        <ErrorBoundary>
          <RunTimeline
            run={run}
            head={head}
            steps={steps}
            selected={selectedName}
            critical={critical}
            unfolding={unfolding}
          />
        </ErrorBoundary>
      )}
    </section>
  );
}

/** Reads the run to compare the steps with; null while it loads, or without an earlier run. */
function useEarlier(head: RunHead): EarlierRun | null {
  const earlier = useMemo(
    () => createResource(() => readEarlier(head, { wanted: '', limit: MAX_EARLIER })),
    [head.runId],
  );
  useEffect(() => void earlier.refresh(), [earlier]);
  const chosen = earlier.known.value.value?.chosen ?? null;
  return useMemo(() => chosen && earlierRunOf(chosen), [chosen]);
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
