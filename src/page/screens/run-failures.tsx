import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { stepLook } from '../../render/report/status-look.ts';
import type { StepView } from '../api/types.ts';
import { showLog } from '../data/log.ts';
import type { ShownRun } from '../data/run.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { LastLines } from '../run-view/last-lines.tsx';
import { counted } from '../run-view/step-text.ts';
import { hrefOfStep } from './run-address.ts';

const MAX_FAILURES = 5;
const MAX_LINES = 8;

/** What failed in a run that has ended: why, and the last lines that were printed. */
export function RunFailures({ run, steps }: { run: ShownRun; steps: readonly StepView[] }): JSX.Element | null {
  const failed = steps.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return null;
  const left = failed.length - MAX_FAILURES;
  return (
    <section class="failures" aria-labelledby="failures-title">
      <h2 id="failures-title">What failed</h2>
      {failed.slice(0, MAX_FAILURES).map((step) => (
        <Failure key={step.name} run={run} step={step} />
      ))}
      {left > 0 && <p class="note">{counted(left, 'more step')} failed.</p>}
    </section>
  );
}

function Failure({ run, step }: { run: ShownRun; step: StepView }): JSX.Element {
  const { name, error, attempts } = step;
  return (
    <article class="failure">
      <h3>
        <StatusIcon look={stepLook('failed')} />
        <a href={hrefOfStep(name)}>
          <bdi>{name}</bdi>
        </a>
        <span class="failure-why">
          {error ?? 'failed'}
          {attempts > 1 && ` after ${counted(attempts, 'attempt')}`}
        </span>
      </h3>
      {attempts > 0 && <Tail run={run} step={name} attempt={attempts} />}
    </article>
  );
}

function Tail({ run, step, attempt }: { run: ShownRun; step: string; attempt: number }): JSX.Element {
  const runId = run.head.value?.runId ?? '';
  const logs = useMemo(
    () => (['stderr', 'stdout'] as const).map((stream) => showLog({ runId, step, attempt, stream })),
    [runId, step, attempt],
  );
  useEffect(() => {
    for (const log of logs) log.update();
  }, [logs]);
  const lines = logs.map(({ text }) => text.value?.lines ?? []).find((each) => each.length > 0) ?? [];
  return <LastLines lines={lines.slice(-MAX_LINES)} label={`Last lines of ${step}`} />;
}
