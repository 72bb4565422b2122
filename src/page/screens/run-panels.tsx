import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunHead, StepView } from '../api/types.ts';
import { now } from '../data/clock.ts';
import type { ShownRun } from '../data/run.ts';
import { Tabs } from '../parts/tabs.tsx';
import { useQuery } from '../parts/use-query.ts';
import { StepRow } from '../run-view/step-list.tsx';
import { Timeline } from '../run-view/timeline.tsx';
import { hrefOfStep } from './run-address.ts';
import { RunGraph } from './run-graph.tsx';

type PanelProps = {
  readonly run: ShownRun;
  readonly head: RunHead;
  readonly steps: readonly StepView[];
  readonly selected: string | null;
};

/** The steps of a run in one of three views, with one choice for all. */
export function RunPanels({ run, head, steps, selected }: PanelProps): JSX.Element {
  const [query, change] = useQuery();
  const graph = run.view.value?.graph ?? null;
  const names = graph === null ? (['Steps', 'Timeline'] as const) : (['Graph', 'Timeline', 'Steps'] as const);
  const view = names.find((name) => name.toLowerCase() === query['view']) ?? names[0];
  const handlers = run.handlers.value;
  // The same element as before is not drawn again: a step that changes draws its own box.
  const drawing = useMemo(
    () => graph !== null && <RunGraph run={run} graph={graph} selected={selected} />,
    [run, graph, selected],
  );
  return (
    <section class="card pane steps-pane" aria-label="Steps of the run">
      <Tabs
        names={names}
        current={view}
        onChoose={(name) => change({ view: name === names[0] ? '' : name.toLowerCase() })}
      />
      {view === 'Graph' && drawing}
      {view === 'Graph' && handlers.length > 0 && (
        <ul class="step-rows then" aria-label="Handlers">
          {steps.filter(({ name }) => handlers.includes(name)).map((step) => row(step, selected))}
        </ul>
      )}
      {view === 'Steps' && <ul class="step-rows">{steps.map((step) => row(step, selected))}</ul>}
      {view === 'Timeline' && (
        <div class="scroll">
          <Timeline
            steps={steps}
            from={Date.parse(head.startedAt ?? head.createdAt)}
            to={head.finishedAt === null ? now.value : Date.parse(head.finishedAt)}
            hrefOf={hrefOfStep}
            selected={selected}
          />
        </div>
      )}
    </section>
  );
}

function row(step: StepView, selected: string | null): JSX.Element {
  return (
    <StepRow
      key={step.name}
      step={step}
      href={hrefOfStep(step.name)}
      isSelected={step.name === selected}
      now={now.value}
    />
  );
}
