import { shortId } from '#render/text.ts';
import type { RunHead, StepView } from '#run-view/api/types.ts';
import { AttemptLine, Instances, RunFacts, RunParams, StepFacts, StepOutputs } from '#run-view/components.ts';
import { to } from '../../api/address.ts';
import type { ShownRun } from '../../data/shown-run.ts';
import { Moment } from '../../parts/time.tsx';

/** The details of a step other than its logs. */
export function StepDetails({ run, step }: { run: ShownRun; step: StepView }) {
  const graph = run.view.value?.graph;
  const needs = graph?.edges.filter(({ to: name }) => name === step.name).map(({ from }) => from) ?? [];
  const moment = (at: string) => <Moment at={at} />;
  return (
    <div class="details">
      <StepFacts
        step={step}
        node={graph?.nodes.find(({ name }) => name === step.name) ?? null}
        moment={moment}
        needs={needs.join(', ')}
        position={null}
        child={step.child && <a href={to.run(step.child)}>{shortId(step.child)}</a>}
      />
      {step.items !== undefined && <Instances items={step.items} />}
      <StepOutputs step={step} />
      {step.history.length > 1 && (
        <ol class="attempt-list" aria-label="Attempts">
          {step.history.map((attempt) => (
            <li key={attempt.attempt}>
              <AttemptLine attempt={attempt} moment={moment} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** Rarely needed details of a run. */
export function RunAbout({ head, tags }: { head: RunHead; tags: readonly string[] }) {
  return (
    <>
      <RunFacts view={{ run: head, tags }} moment={(at) => <Moment at={at} />} unfinished="not yet" />
      <RunParams params={head.params} />
    </>
  );
}
