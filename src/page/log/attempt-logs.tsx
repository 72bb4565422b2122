import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { StepAttempt, StepView } from '#run-view/api/types.ts';
import { onReconnection } from '../data/reconnection.ts';
import type { ShownRun } from '../data/run.ts';
import { showsLogTimes } from '../data/settings.ts';
import { useQuery } from '../parts/use-query.ts';
import type { LogName } from './log-api.ts';
import { LogViewer } from './log-viewer.tsx';
import { showLog } from './shown-log.ts';

const streams = ['stdout', 'stderr'] as const;

/** A step or an instance of a fan-out, reduced to the data of its logs. */
export type LoggedStep = Pick<StepView, 'name' | 'status'> & {
  readonly history: readonly Pick<StepAttempt, 'attempt' | 'status' | 'startedAt' | 'finishedAt'>[];
};

type LogsProps = {
  readonly run: ShownRun;
  readonly step: LoggedStep;
  readonly attempt: number;
  readonly runId: string;
};

/** The log of an attempt, or one of its two. */
export function AttemptLogs({ run, step, attempt, runId }: LogsProps): JSX.Element {
  const [query, change] = useQuery();
  const logs = useMemo(() => {
    const name = { runId, step: step.name, attempt };
    return {
      stdout: showLog({ ...name, stream: 'stdout' }),
      stderr: showLog({ ...name, stream: 'stderr' }),
    };
  }, [runId, step.name, attempt]);
  useEffect(() => () => Object.values(logs).forEach((log) => void log.close()), [logs]);
  const size = (stream: LogName['stream']) => run.logSize({ step: step.name, attempt, stream }).value;
  const [stdoutSize, stderrSize] = [size('output') ?? size('stdout'), size('stderr')];
  const record = step.history.find((each) => each.attempt === attempt);
  const end = record?.finishedAt ?? null;
  const hasBegun = record !== undefined && record.startedAt !== null;
  // Also reads at the end of the attempt: the last output may not have been announced.
  useEffect(() => {
    if (hasBegun) logs.stdout.update();
  }, [logs, stdoutSize, hasBegun, end, showsLogTimes.value]);
  const hasTwo = logs.stdout.map.value?.streams.length === 2;
  const hasErrors = hasBegun && hasTwo;
  useEffect(() => {
    if (hasErrors) logs.stderr.update();
  }, [logs, stderrSize, hasErrors, end, showsLogTimes.value]);
  useEffect(() => {
    const update = () => [logs.stdout, ...(hasErrors ? [logs.stderr] : [])].forEach((log) => void log.update());
    return hasBegun ? onReconnection(update) : undefined;
  }, [logs, hasBegun, hasErrors]);
  const isKnown = logs.stdout.map.value !== null && (!hasTwo || logs.stderr.map.value !== null);
  const lines = { stdout: logs.stdout.map.value?.lines ?? 0, stderr: logs.stderr.map.value?.lines ?? 0 };
  const isAboutErrors = lines.stdout === 0 || step.status === 'failed';
  const usual = isAboutErrors && lines.stderr > 0 ? 'stderr' : 'stdout';
  const asked = streams.find((each) => each === query['stream']);
  const stream = hasTwo ? (asked ?? usual) : 'stdout';
  const problem = logs.stdout.problem.value ?? logs.stderr.problem.value;
  return (
    <>
      {hasTwo && (
        <div class="attempts">
          {streams.map((each) => (
            <button
              key={each}
              type="button"
              class="chip"
              aria-pressed={each === stream}
              onClick={() => change({ stream: each }, '')}
            >
              {each} <span class="quiet-count">{lines[each].toLocaleString('en')}</span>
            </button>
          ))}
        </div>
      )}
      {isKnown || asked !== undefined ? (
        <LogViewer
          key={stream}
          log={logs[stream]}
          what={hasTwo ? stream : 'output'}
          isGrowing={end === null}
          startsAtEnd={end === null || record?.status === 'failed'}
        />
      ) : (
        problem !== null && <p class="note">{problem.message}</p>
      )}
      {record !== undefined && record.status !== null && !hasBegun && (
        <p class="note">No log: this attempt ended before its start was recorded.</p>
      )}
    </>
  );
}
