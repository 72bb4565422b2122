import type { ComponentChildren, JSX } from 'preact';
import { formatDuration } from '#render/text/duration.ts';
import { FactList, type ShowMoment } from './run-facts.tsx';
import { StatusIcon } from './status-icon.tsx';
import { presentLook, stepLook } from './status-look.ts';
import { type GraphNode, MAX_TEXT, type StepApproval, type StepAttempt, type StepView, shortened } from './view.ts';

const MAX_COMMAND = 500;
/** The port mapping in the form of `docker ps`. */
const SHORT_CONTAINER_ID = 12;
const MAX_OUTPUT = 4096;
const MAX_OUTPUTS = 20;

type FactsProps = {
  readonly step: StepView;
  /** The step in the file; null if the stored workflow is lost. */
  readonly node: GraphNode | null;
  readonly moment: ShowMoment;
  readonly needs: ComponentChildren;
  readonly place: ComponentChildren;
  /** The sub-run of the step. */
  readonly child: ComponentChildren;
};

/** The details of a step other than its output. */
export function StepFacts({ step, node, moment, needs, place, child }: FactsProps): JSX.Element | null {
  return (
    <FactList
      facts={[
        ['Status', presentLook(step).word],
        ['Why', step.error && shortened(step.error, MAX_TEXT)],
        ['Description', node?.description],
        ['Runs', node && <code>{shortened(node.command, MAX_COMMAND)}</code>],
        ['Depends on', needs],
        ['Exit code', step.exitCode],
        ['Signal', step.signal],
        ['Child run', child],
        ['Started', step.startedAt && moment(step.startedAt)],
        ['Finished', step.finishedAt && moment(step.finishedAt)],
        ['Took', step.durationMs !== null && formatDuration(step.durationMs)],
        ['Repetitions', step.repetitions],
        ['Tolerated by', step.tolerated && <code>{`continueOn.${step.tolerated}`}</code>],
        ['Service', step.service && (step.service.ready ? 'ready' : 'not ready')],
        ['Container', step.container && <code>{step.container.id.slice(0, SHORT_CONTAINER_ID)}</code>],
        ['Image', step.container?.image && <code>{step.container.image}</code>],
        ['Prompt', step.approval && shortened(step.approval.prompt, MAX_TEXT)],
        ['Answer', step.approval && answerText(step.approval, moment)],
        ['Comment', step.approval && shortened(step.approval.comment ?? '', MAX_TEXT)],
        ['Result', step.kept && 'kept from an earlier run'],
        ['Defined at', place],
      ]}
    />
  );
}

/** The user and time of an approval: `approved by anna at 10:31`; null before the answer. */
export function answerText({ answer, by, at }: StepApproval, moment: ShowMoment): ComponentChildren {
  if (answer === null) return null;
  return (
    <>
      {answer}
      {by !== null && (
        <>
          {' by '}
          <bdi>{by}</bdi>
        </>
      )}
      {at !== null && <> at {moment(at)}</>}
    </>
  );
}

/** The outputs of a step. */
export function StepOutputs({ step: { outputs, maskedOutputs } }: { step: StepView }): JSX.Element | null {
  const known = Object.entries(outputs);
  if (known.length === 0) return null;
  return (
    <table class="values outputs">
      <caption>Outputs</caption>
      <tbody>
        {known.slice(0, MAX_OUTPUTS).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              {maskedOutputs.includes(name) ? (
                <span class="quiet">hidden: it is or contains a secret</span>
              ) : (
                <pre tabIndex={0}>{shortened(value, MAX_OUTPUT)}</pre>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A summary of an attempt: `Attempt 1 10:31:02 · failed after 0.3s: exit 3`. */
export function AttemptLine({ attempt, moment }: { attempt: StepAttempt; moment: ShowMoment }): JSX.Element {
  const look = stepLook(attempt.status ?? 'running');
  return (
    <>
      <StatusIcon look={look} /> Attempt {attempt.attempt}{' '}
      <span class="quiet">
        {moment(attempt.startedAt ?? attempt.scheduledAt)} · {endText(attempt)}
      </span>
    </>
  );
}

function endText({ status, startedAt, scheduledAt, finishedAt, error, next }: StepAttempt): string {
  const took = finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt ?? scheduledAt);
  const waited = next === null || finishedAt === null ? null : Date.parse(next.until) - Date.parse(finishedAt);
  return [
    stepLook(status ?? 'running').word,
    took !== null && ` after ${formatDuration(took)}`,
    error !== null && status !== 'succeeded' && `: ${error}`,
    waited !== null && `, next after ${formatDuration(waited)}`,
  ]
    .filter(Boolean)
    .join('');
}
