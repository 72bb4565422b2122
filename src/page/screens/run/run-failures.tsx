import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { shortId } from '../../../render/text/short-id.ts';
import { to } from '../../api/address.ts';
import type { StepView } from '../../api/types.ts';
import type { ShownRun } from '../../data/run.ts';
import { readTail } from '../../log/log-api.ts';
import { FailureBox } from '../../run-view/failure-box.tsx';
import { LastLines } from '../../run-view/log-text.tsx';
import { counted } from '../../run-view/step-text.ts';
import { explainingNode } from '../../run-view/view.ts';
import { hrefOfStep } from './run-address.ts';

const MAX_FAILURES = 5;
const MAX_LINES = 8;

/** The failures of a finished run: the reasons, and the last lines of output. */
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
  const { name } = step;
  const explaining = explainingNode(step);
  // Without a start, as after a crash, there is no log.
  const hasBegun = explaining.attempts > 0 && step.startedAt !== null;
  const child = run.view.value?.subRuns.find((each) => each.step === name)?.run;
  return (
    <FailureBox step={step} isStrict={run.head.value?.strict === true} href={hrefOfStep(name)}>
      {child !== undefined && (
        <p>
          <a href={to.run(child.runId)}>
            See what failed in <bdi>{child.workflow}</bdi> {shortId(child.runId)}
          </a>
        </p>
      )}
      {hasBegun && <Tail run={run} step={explaining.name} attempt={explaining.attempts} />}
    </FailureBox>
  );
}

function Tail({ run, step, attempt }: { run: ShownRun; step: string; attempt: number }): JSX.Element {
  const runId = run.head.value?.runId ?? '';
  const lines = useSignal<readonly string[]>([]);
  useEffect(() => {
    const read = async () => {
      const name = { runId, step, attempt };
      const errors = await readTail({ ...name, stream: 'stderr' });
      lines.value = errors.length > 0 ? errors : await readTail({ ...name, stream: 'output' });
    };
    // The log of the step itself, below, reports problems.
    void read().catch(() => {});
  }, [runId, step, attempt]);
  return <LastLines lines={lines.value.slice(-MAX_LINES)} label={`Last lines of ${step}`} />;
}
