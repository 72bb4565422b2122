import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { stepLook } from '../../render/report/status-look.ts';
import { to } from '../api/address.ts';
import type { RunHead, StepView } from '../api/types.ts';
import { logAddress, showLog } from '../data/log.ts';
import type { ShownRun } from '../data/run.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { useQuery } from '../parts/use-query.ts';
import { LogLines } from '../run-view/log-lines.tsx';
import { SourceText } from '../run-view/source.tsx';
import { StepDetails } from '../run-view/step-details.tsx';

type StepProps = { readonly run: ShownRun; readonly step: StepView; readonly head: RunHead };

/** The chosen step: its logs, its details, and its place in the file. */
export function StepPane({ run, step, head }: StepProps): JSX.Element {
  const [query, change] = useQuery();
  const view = run.view.value;
  const place = view?.graph?.nodes.find(({ name }) => name === step.name)?.place ?? null;
  const source = place === null ? undefined : view?.sources[place.source];
  const names = ['Logs', 'Details', ...(source === undefined ? [] : ['Source'])];
  const tab = names.find((name) => name.toLowerCase() === query['tab']) ?? 'Logs';
  const look = stepLook(step.status);
  const child = view?.subRuns.find((each) => each.step === step.name)?.run.runId ?? step.child;
  return (
    <section class="card pane step-pane" aria-labelledby="step-title">
      <div class="pane-head">
        <StatusIcon look={look} />
        <h2 id="step-title">
          <bdi>{step.name}</bdi>
        </h2>
        <span class="quiet">{look.word}</span>
        <span class="space" />
        {child !== undefined && <a href={to.run(child)}>Sub-run</a>}
        <Tabs
          names={names}
          current={tab}
          label="Part of the step"
          onChoose={(name) => change({ tab: name === 'Logs' ? '' : name.toLowerCase() })}
        />
      </div>
      {tab === 'Logs' && <StepLogs run={run} step={step} head={head} />}
      {tab === 'Details' && <StepDetails step={step} />}
      {tab === 'Source' && source !== undefined && place !== null && (
        <SourceText path={source.path} text={source.text} marked={{ from: place.line, to: place.endLine }} />
      )}
    </section>
  );
}

function StepLogs({ run, step, head }: StepProps): JSX.Element {
  const [query, change] = useQuery();
  const attempts = step.history.map(({ attempt }) => attempt);
  const attempt = attempts.find((each) => String(each) === query['attempt']) ?? attempts.at(-1);
  if (attempt === undefined) return <p class="note">{step.error ?? 'The step has not started.'}</p>;
  return (
    <>
      {attempts.length > 1 && (
        <div class="attempts">
          <span class="quiet">Attempt</span>
          {step.history.map(({ attempt: each, status }) => (
            <button
              key={each}
              type="button"
              class="chip"
              aria-pressed={each === attempt}
              onClick={() => change({ attempt: each === attempts.at(-1) ? '' : String(each) })}
            >
              <StatusIcon look={stepLook(status ?? step.status)} label={stepLook(status ?? step.status).word} /> {each}
            </button>
          ))}
        </div>
      )}
      <Streams key={attempt} run={run} step={step} attempt={attempt} runId={head.runId} />
    </>
  );
}

type StreamsProps = {
  readonly run: ShownRun;
  readonly step: StepView;
  readonly attempt: number;
  readonly runId: string;
};

/** Both streams of an attempt, of which one is shown. */
function Streams({ run, step, attempt, runId }: StreamsProps): JSX.Element {
  const [query, change] = useQuery();
  const isWrapped = useSignal(false);
  const isFollowing = useSignal(true);
  const logs = useMemo(() => {
    const name = { runId, step: step.name, attempt };
    return {
      stdout: showLog({ ...name, stream: 'stdout' }),
      stderr: showLog({ ...name, stream: 'stderr' }),
    };
  }, [runId, step.name, attempt]);
  const size = (stream: 'stdout' | 'stderr') => run.logSize({ step: step.name, attempt, stream }).value;
  const [stdoutSize, stderrSize] = [size('stdout'), size('stderr')];
  const record = step.history.find((each) => each.attempt === attempt);
  const end = record?.finishedAt ?? null;
  const hasBegun = record !== undefined && record.startedAt !== null;
  // The end of the attempt, too, is a reason to look: what was printed last may not have been announced.
  useEffect(() => {
    if (hasBegun) logs.stdout.update();
  }, [logs, stdoutSize, hasBegun, end]);
  useEffect(() => {
    if (hasBegun) logs.stderr.update();
  }, [logs, stderrSize, hasBegun, end]);
  const lines = { stdout: logs.stdout.text.value?.lines ?? [], stderr: logs.stderr.text.value?.lines ?? [] };
  const isAboutErrors = lines.stdout.length === 0 || step.status === 'failed';
  const usual = isAboutErrors && lines.stderr.length > 0 ? 'stderr' : 'stdout';
  const stream = query['stream'] === 'stdout' || query['stream'] === 'stderr' ? query['stream'] : usual;
  const log = logs[stream];
  const text = log.text.value;
  return (
    <>
      <div class="log-tools">
        {(['stdout', 'stderr'] as const).map((each) => (
          <button
            key={each}
            type="button"
            class="chip"
            aria-pressed={each === stream}
            onClick={() => change({ stream: each })}
          >
            {each} <span class="quiet-count">{lines[each].length.toLocaleString('en')}</span>
          </button>
        ))}
        <span class="space" />
        {end === null && !isFollowing.value && (
          <button type="button" class="plain" onClick={() => (isFollowing.value = true)}>
            Follow
          </button>
        )}
        <button
          type="button"
          class="plain"
          aria-pressed={isWrapped.value}
          onClick={() => (isWrapped.value = !isWrapped.value)}
        >
          Wrap
        </button>
        <a
          class="plain-link"
          href={`${logAddress({ runId, step: step.name, attempt, stream })}&download=true`}
          download
        >
          Download
        </a>
      </div>
      {log.problem.value !== null && <p class="note">{log.problem.value.message}</p>}
      {text !== null && text.from > 0 && (
        <p class="note">
          {text.from.toLocaleString('en')} earlier bytes are not shown.{' '}
          <button type="button" class="plain" onClick={log.readEarlier}>
            Show more
          </button>
        </p>
      )}
      {text !== null && text.lines.length === 0 ? (
        <p class="note">{end === null ? 'It has printed nothing yet.' : 'It printed nothing.'}</p>
      ) : (
        <LogLines
          key={stream}
          lines={text?.lines ?? []}
          label={`${stream} of ${step.name}, attempt ${attempt}`}
          isFollowing={isFollowing.value}
          onScrolledUp={() => {
            isFollowing.value = false;
          }}
          isWrapped={isWrapped.value}
        />
      )}
    </>
  );
}
