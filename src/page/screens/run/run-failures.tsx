import { useEffect } from 'preact/hooks';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import type { RunFailure, RunView, StepView } from '#run-view/api/types.ts';
import { FailureList } from '#run-view/components.ts';
import { to } from '../../api/address.ts';
import type { ShownRun } from '../../data/shown-run.ts';
import { hrefOfStep } from './run-address.ts';

/** The failures of a finished run: the reasons, the last lines of output, and links to the logs. */
export function RunFailures({ run, steps }: { run: ShownRun; steps: readonly StepView[] }) {
  const view = run.view.value;
  const failed = failedIn(steps);
  // The view has the failures of the time at which it was loaded.
  const isOld = view !== null && failed !== failedIn([...view.steps, ...view.handlers]);
  useEffect(() => {
    if (isOld) run.reload();
  }, [isOld]);
  if (view === null || failed === '' || view.failures.length === 0) return null;
  return (
    <section class="failures" aria-labelledby="failures-title">
      <h2 id="failures-title">What failed</h2>
      <FailureList view={view} hrefOf={(failure) => hrefOf(failure, view)} positionOf={positionOf} />
    </section>
  );
}

function failedIn(steps: RunView['steps']): string {
  return steps.flatMap(({ name, status, finishedAt }) => (status === 'failed' ? [name, finishedAt] : [])).join('\n');
}

/** The log of a failed step: on this screen, or on that of the run that has it. */
function hrefOf({ runId, step, key, command }: RunFailure, { run }: RunView): string {
  const name = key === null ? step : (splitInstanceName(step)?.step ?? step);
  if (runId === run.runId) return hrefOfStep(name, key ?? undefined);
  return command?.startsWith('wf status') ? to.run(runId) : to.runOfStep(runId, name, key ?? undefined);
}

function positionOf({ place: position }: RunFailure) {
  return position && <code>{`${position.file.replace(/^.*\//, '')}:${position.line}:${position.column}`}</code>;
}
