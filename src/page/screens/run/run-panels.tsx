import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { ErrorBoundary, lazy } from 'preact-iso';
import type { RunHead, StepView } from '../../api/types.ts';
import { now } from '../../data/clock.ts';
import type { ShownRun } from '../../data/run.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { useQuery } from '../../parts/use-query.ts';
import { useDrawnRows } from '../../parts/virtual-list.tsx';
import { criticalPath } from '../../run-view/critical-path.ts';
import { StepRow } from '../../run-view/step-line.tsx';
import { hrefOfStep } from './run-address.ts';
import { RunGraph } from './run-graph.tsx';

const RunComparison = lazy(() => import('./run-comparison.tsx').then((part) => part.RunComparison));
const RunTimeline = lazy(() => import('./run-timeline.tsx').then((part) => part.RunTimeline));

/** In pixels, as the style sheet has it; for fingers they are higher. */
const rowHeight = matchMedia('(max-width: 640px), (pointer: coarse)').matches ? 44 : 36;

type PanelProps = {
  readonly run: ShownRun;
  readonly head: RunHead;
  readonly steps: readonly StepView[];
  readonly selected: string | null;
};

/** The steps of a run in one of several views, with one choice for all. */
export function RunPanels({ run, head, steps, selected }: PanelProps): JSX.Element {
  const [query, change] = useQuery();
  const graph = run.view.value?.graph ?? null;
  const names =
    graph === null ? (['Steps', 'Timeline', 'Compare'] as const) : (['Graph', 'Timeline', 'Steps', 'Compare'] as const);
  const view = names.find((name) => name.toLowerCase() === query['view']) ?? names[0];
  const handlers = run.handlers.value;
  const critical = useCriticalPath(run, head, steps);
  // The same element as before is not drawn again: a step that changes draws its own box.
  const drawing = useMemo(
    () => graph !== null && <RunGraph run={run} graph={graph} selected={selected} critical={critical} />,
    [run, graph, selected, critical],
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
        <ul class="step-rows then" aria-label="Handlers">
          {steps.filter(({ name }) => handlers.includes(name)).map((step) => row(step, selected))}
        </ul>
      )}
      {view === 'Steps' && <StepRows steps={steps} selected={selected} />}
      {view === 'Compare' && (
        <ErrorBoundary>
          <RunComparison head={head} steps={steps} />
        </ErrorBoundary>
      )}
      {view === 'Timeline' && (
        <ErrorBoundary>
          <RunTimeline run={run} head={head} steps={steps} selected={selected} critical={critical} />
        </ErrorBoundary>
      )}
    </section>
  );
}

/** Of a run that has finished: before, every step changes it. */
function useCriticalPath(run: ShownRun, head: RunHead, steps: readonly StepView[]): ReadonlySet<string> {
  const view = run.view.value;
  const isFinished = head.finishedAt !== null;
  return useMemo(() => {
    if (!isFinished || view === null) return new Set();
    return new Set(criticalPath(steps.slice(0, view.steps.length), view.graph?.edges ?? []));
  }, [view, isFinished, isFinished && steps]);
}

function StepRows({ steps, selected }: { steps: readonly StepView[]; selected: string | null }): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const { first, last, before, after } = useDrawnRows(list, steps.length, rowHeight);
  return (
    <ul class="step-rows rows" ref={list}>
      {before > 0 && <li aria-hidden="true" style={{ height: `${before}px` }} />}
      {steps
        .slice(first, last)
        .map((step, index) => row(step, selected, { index: first + index, count: steps.length }))}
      {after > 0 && <li aria-hidden="true" style={{ height: `${after}px` }} />}
    </ul>
  );
}

function row(step: StepView, selected: string | null, place?: { index: number; count: number }): JSX.Element {
  return (
    <StepRow
      key={step.name}
      step={step}
      href={hrefOfStep(step.name)}
      isSelected={step.name === selected}
      now={now.value}
      {...(place && { place })}
    />
  );
}
