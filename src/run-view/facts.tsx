import type { ComponentChildren } from 'preact';
import { staleSummary } from '#core/fingerprint.ts';
import { formatDuration, shortId } from '#render/text.ts';
import type { GraphNode, RunView, StepApproval, StepAttempt, StepView } from './api/types.ts';
import { type Fact, FactList } from './fact-list.tsx';
import { countsText, presentLook, StatusIcon, stepLook } from './status.tsx';
import { attemptsText, counted, type Instance, itemText, MAX_TEXT, shortened } from './texts.ts';

type ShowMoment = (iso: string) => ComponentChildren;

const MAX_PARAMS = 200;

const triggers: Readonly<Record<RunView['run']['trigger'], string>> = {
  cli: 'the command line',
  api: 'the API',
  schedule: 'its schedule',
  workflow: 'a step of another workflow',
  retry: 'a retry after a failure',
  backfill: 'a backfill',
};

type RunFactsProps = {
  readonly view: Pick<RunView, 'run' | 'tags'>;
  readonly moment: ShowMoment;
  /** Shown instead of the end time while a run is active. */
  readonly unfinished: ComponentChildren;
};

/** The origin and the times of a run. */
export function RunFacts({ view: { run, tags }, moment, unfinished }: RunFactsProps) {
  const { owner } = run;
  return (
    <FactList
      facts={[
        ['Run', <code key="id">{run.runId}</code>],
        ['Started by', triggers[run.trigger]],
        ['Scheduled for', run.scheduledFor && moment(run.scheduledFor)],
        ['Backfill', run.backfill && <code>{run.backfill}</code>],
        ['Started', moment(run.startedAt ?? run.createdAt)],
        ['Late since', run.lateSince && moment(run.lateSince)],
        ['Finished', run.finishedAt === null ? unfinished : moment(run.finishedAt)],
        ['File', run.file && <code>{run.file}</code>],
        ['Group', run.group],
        ['Tags', tags.join(', ')],
        ['Queue', run.queue ?? ''],
        ['Retry of', run.retryOf && <code>{run.retryOf}</code>],
        ['Retry', run.autoRetry && run.autoRetry.n > 0 && `${run.autoRetry.n} of ${run.autoRetry.limit}`],
        ['Next retry', run.autoRetry?.at && moment(run.autoRetry.at)],
        [
          'Process',
          owner && (
            <>
              {owner.pid} on <bdi>{owner.host}</bdi>
            </>
          ),
        ],
      ]}
    />
  );
}

/** The parameters of a run. */
export function RunParams({ params }: Pick<RunView['run'], 'params'>) {
  if (params.length === 0) return null;
  const left = params.length - MAX_PARAMS;
  return (
    <>
      <ValueTable
        kind="params"
        caption="Parameters"
        values={params
          .slice(0, MAX_PARAMS)
          .map(({ name, value }, index) => [name ?? `$${index + 1}`, <code>{shortened(value, MAX_TEXT)}</code>])}
      />
      {left > 0 && <p class="note">{counted(left, 'more parameter')}</p>}
    </>
  );
}

function ValueTable({ kind, caption, values }: { kind: string; caption: string; values: readonly Fact[] }) {
  return (
    <table class={`values ${kind}`}>
      <caption>{caption}</caption>
      <tbody>
        {values.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MAX_COMMAND = 500;
/** As Docker prints it, in characters. */
const SHORT_CONTAINER_ID = 12;
const MAX_OUTPUT = 4096;
const MAX_OUTPUTS = 20;

type FactsProps = {
  readonly step: StepView;
  /** The step in the file; null if the stored workflow is lost. */
  readonly node: GraphNode | null;
  readonly moment: ShowMoment;
  readonly needs: ComponentChildren;
  readonly position: ComponentChildren;
  readonly child: ComponentChildren;
};

/** The details of a step other than its output. */
export function StepFacts({ step, node, moment, needs, position, child }: FactsProps) {
  return (
    <FactList
      facts={[
        ['Status', presentLook(step).word],
        ['Waits', step.blocked && <WaitText step={step} moment={moment} />],
        ['Why', step.error && shortened(step.error, MAX_TEXT)],
        ['Description', node?.description],
        ['Runs', node && <code>{shortened(node.command, MAX_COMMAND)}</code>],
        ['Depends on', needs],
        ['Exit code', step.exitCode],
        ['Signal', step.signal],
        ['Child run', child],
        ['Worker', step.worker],
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
        ['Up to date', step.cache && cacheText(step.cache)],
        ['Result', step.kept && 'kept from an earlier run'],
        ['Defined at', position],
      ]}
    />
  );
}

/** Why a step with sources ran, or the run whose result it has. */
function cacheText({
  hit,
  from,
  reason,
  more,
  savedMs = 0,
  restored,
}: NonNullable<StepView['cache']>): ComponentChildren {
  if (!hit) return shortened(`no: ${staleSummary({ reason, ...(more === undefined ? {} : { more }) })}`, MAX_TEXT);
  return (
    <>
      {restored ? 'restored from' : 'as of'} run <code>{shortId(from ?? '')}</code>, {formatDuration(savedMs)} saved
    </>
  );
}

/** What a step waits for: `for lock db since 10:31, held by load 5f2c, step copy since 10:30`; nothing if it does not wait. */
export function WaitText({ step: { waitingFor, blocked }, moment }: Pick<FactsProps, 'step' | 'moment'>) {
  if (blocked === undefined) return null;
  const { name, since, holder } = blocked;
  return (
    <>
      for {waitingFor} <bdi>{name}</bdi> since {moment(since)}
      {holder !== null && (
        <>
          , held by <bdi>{holder.workflow}</bdi> <code>{shortId(holder.runId)}</code>
          {holder.step !== null && (
            <>
              , step <bdi>{holder.step}</bdi>
            </>
          )}{' '}
          since {moment(holder.since)}
          {holder.unknown !== undefined && `; ${holder.unknown} may have ended`}
        </>
      )}
    </>
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
export function StepOutputs({ step: { outputs, maskedOutputs } }: { step: StepView }) {
  const known = Object.entries(outputs);
  if (known.length === 0) return null;
  return (
    <ValueTable
      kind="outputs"
      caption="Outputs"
      values={known
        .slice(0, MAX_OUTPUTS)
        .map(([name, value]) => [
          name,
          maskedOutputs.includes(name) ? (
            <span class="quiet">hidden: it is or contains a secret</span>
          ) : (
            <pre tabIndex={0}>{shortened(value, MAX_OUTPUT)}</pre>
          ),
        ])}
    />
  );
}

/** A summary of an attempt: `Attempt 1 10:31:02 · failed after 0.3s: exit 3`. */
export function AttemptLine({ attempt, moment }: { attempt: StepAttempt; moment: ShowMoment }) {
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

function endText({ status, startedAt, scheduledAt, finishedAt, error, next, worker }: StepAttempt): string {
  const took = finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt ?? scheduledAt);
  const waited = next === null || finishedAt === null ? null : Date.parse(next.until) - Date.parse(finishedAt);
  return [
    stepLook(status ?? 'running').word,
    took !== null && ` after ${formatDuration(took)}`,
    worker !== undefined && ` on ${worker}`,
    error !== null && status !== 'succeeded' && `: ${error}`,
    waited !== null && `, next after ${formatDuration(waited)}`,
  ]
    .filter(Boolean)
    .join('');
}

/** Further instances are omitted, successful ones first. */
const MAX_INSTANCES = 500;

/** The instances of a fan-out, collapsed below the number of each status. */
export function Instances({ items }: { items: readonly Instance[] }) {
  const urgent = items.filter(({ status }) => status !== 'succeeded');
  const others = items.filter(({ status }) => status === 'succeeded');
  const shown = new Set([...urgent, ...others].slice(0, MAX_INSTANCES));
  const left = items.length - shown.size;
  return (
    <details class="instances" open={urgent.length > 0 && items.length <= 20}>
      <summary>
        {counted(items.length, 'instance')}: {countsText(items.map(presentLook))}
      </summary>
      <ul class="step-rows">
        {items.map((item) => shown.has(item) && <InstanceLine key={item.name} instance={item} />)}
      </ul>
      {left > 0 && <p class="note">{counted(left, 'more instance')} succeeded or came later.</p>}
    </details>
  );
}

function InstanceLine({ instance }: { instance: Instance }) {
  const look = presentLook(instance);
  const why = [itemText(instance), instance.error, attemptsText(instance)];
  return (
    <li class={`step-row ${look.kind}`}>
      <StatusIcon look={look} label={look.word} />
      <span class="name">
        <bdi>{instance.name}</bdi>
      </span>
      <span class="why">{shortened(why.filter(Boolean).join(' · '), MAX_TEXT)}</span>
      <span class="took">{instance.durationMs !== null && formatDuration(instance.durationMs)}</span>
    </li>
  );
}
