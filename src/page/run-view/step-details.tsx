import type { JSX } from 'preact';
import { stepLook } from '../../render/report/status-look.ts';
import { formatDuration } from '../../render/text/duration.ts';
import type { StepAttempt, StepView } from '../api/types.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { Moment } from '../parts/time.tsx';

/** What is known of a step: how it ended, its outputs, its attempts. */
export function StepDetails({ step }: { step: StepView }): JSX.Element {
  const outputs = Object.entries(step.outputs);
  return (
    <div class="details">
      <dl class="facts-list">
        {step.error !== null && <Fact name="Error">{step.error}</Fact>}
        {step.exitCode !== null && <Fact name="Exit code">{step.exitCode}</Fact>}
        {step.signal !== null && <Fact name="Signal">{step.signal}</Fact>}
        {step.startedAt !== null && (
          <Fact name="Started">
            <Moment at={step.startedAt} />
          </Fact>
        )}
        {step.finishedAt !== null && (
          <Fact name="Finished">
            <Moment at={step.finishedAt} />
          </Fact>
        )}
        {step.durationMs !== null && <Fact name="Took">{formatDuration(step.durationMs)}</Fact>}
      </dl>
      {outputs.length > 0 && (
        <>
          <h3>Outputs</h3>
          <dl class="facts-list">
            {outputs.map(([name, value]) => (
              <Fact key={name} name={name}>
                <code>{value}</code>
              </Fact>
            ))}
          </dl>
        </>
      )}
      {step.history.length > 1 && (
        <>
          <h3>Attempts</h3>
          <ol class="attempt-list">
            {step.history.map((attempt) => (
              <Attempt key={attempt.attempt} attempt={attempt} running={step.status} />
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Attempt({ attempt, running }: { attempt: StepAttempt; running: StepView['status'] }): JSX.Element {
  const look = stepLook(attempt.status ?? running);
  const { startedAt, finishedAt, error, next } = attempt;
  const took = startedAt !== null && finishedAt !== null ? Date.parse(finishedAt) - Date.parse(startedAt) : null;
  return (
    <li>
      <StatusIcon look={look} /> {attempt.attempt}: {look.word}
      {took !== null && ` after ${formatDuration(took)}`}
      {error !== null && attempt.status !== 'succeeded' && `, ${error}`}
      {next !== null && finishedAt !== null && (
        <span class="quiet"> then waited {formatDuration(Date.parse(next.until) - Date.parse(finishedAt))}</span>
      )}
    </li>
  );
}
