import { isFinished } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import { type AttemptReference, attemptsOf } from '../../service/history/attempts.ts';
import { isGoingOn, type LogReader, showLogs, tailStart } from '../../service/history/log-view.ts';
import { whyNothing } from '../../service/history/why-nothing.ts';
import type { LogAnswer, LogRequest } from '../../service/service.ts';
import { type DaemonClient, segment } from '../daemon-client.ts';
import { followRun } from '../events/event-feed.ts';
import type { KnownOutput } from '../events/known-output.ts';
import { type RemoteRun, readRemoteRun } from '../remote-run.ts';
import { awaitRun, findRemoteRun } from '../remote-runs.ts';
import { readLogLines } from './line-request.ts';
import { remoteRunLogs } from './remote-run-logs.ts';

/** Attempts requested one by one, each of which makes the daemon read the run; more are requested together. */
const mostSingleAttempts = 20;

/** Returns the output of a run of a daemon. Throws as `RunService.logs` does. */
export async function remoteLogs(client: DaemonClient, word: string, request: LogRequest): Promise<LogAnswer> {
  const { step, attempt, follow, tell } = request;
  const summary = await (follow
    ? awaitRun(client, word, tell)
    : findRemoteRun(client, word).then((found) => found.summary));
  if (step !== null || attempt !== null) await requireAttempt(client, summary, request);
  return {
    runId: summary.runId,
    steps: summary.steps,
    read: (reader, signal) => readAll({ client, request, reader, signal }, summary),
  };
}

type Reading = {
  readonly client: DaemonClient;
  readonly request: LogRequest;
  readonly reader: LogReader;
  readonly signal: AbortSignal;
};

async function readAll(reading: Reading, summary: RunSummary): Promise<void> {
  const { client, request, reader, signal } = reading;
  const { step, attempt, stream, tail, exact, follow, tell } = request;
  if (!follow && !exact && (tail !== null || summary.steps.length > mostSingleAttempts)) {
    if (await readLines(reading, summary.runId, () => true)) return reader.release();
  }
  const run = await readRemoteRun(client, summary, remoteRunLogs(client, summary.runId, signal));
  const attempts = attemptsOf(run, request);
  const goesOn = follow && !isFinished(run.state);
  if (attempts.length === 0 && !goesOn) tell(whyNothing(run, step));
  const ended = new Set(attempts.filter((each) => !isGoingOn(run, each)).map(attemptKey));
  const isMany = ended.size > mostSingleAttempts && tail === null && !exact;
  if (isMany) await readLines(reading, run.runId, (each) => ended.has(attemptKey(each)));
  const chosen = { filter: { step, attempt }, stream };
  const isRead = (each: AttemptReference) => isMany && ended.has(attemptKey(each));
  const start =
    tail === null ? (each: AttemptReference) => (isRead(each) ? null : 0) : await tailStart(run, chosen, tail);
  const read = await showLogs(run, { ...chosen, start, reader });
  const known = read.filter((each) => isGoingOn(run, each));
  if (goesOn) await readOn(reading, run, known);
}

/** Pushes the lines of many attempts from one request; resolves to whether there were any. */
function readLines(
  { client, request, reader, signal }: Reading,
  runId: string,
  isWanted: (attempt: AttemptReference) => boolean,
): Promise<boolean> {
  const path = `/runs/${segment(runId)}/logs?${queryOf(request, request.tail)}`;
  return readLogLines(client, { path, reader, signal, isWanted });
}

async function readOn(reading: Reading, run: RemoteRun, known: readonly KnownOutput[]): Promise<void> {
  const { client, request, reader, signal } = reading;
  const after = run.stored?.events.at(-1)?.seq ?? 0;
  const following = { runId: run.runId, after, signal };
  const isWanted = ({ step, attempt }: AttemptReference) =>
    (request.step ?? step) === step && (request.attempt ?? attempt) === attempt;
  for await (const item of followRun(client, following, { step: request.step, known })) {
    if (item.kind === 'output') {
      const { chunk } = item;
      if (!isWanted(chunk) || (request.stream ?? chunk.stream) !== chunk.stream) continue;
      reader.push(chunk);
      if (reader.isBehind()) await reader.caughtUp();
    } else if (item.event.type === 'step.waiting' || item.event.type === 'step.finished') {
      if (isWanted(item.event)) reader.end(item.event.step);
    }
  }
}

function attemptKey({ step, attempt }: AttemptReference): string {
  return `${attempt} ${step}`;
}

/** Asks the daemon for the attempt, so that its error names unknown steps. */
async function requireAttempt(client: DaemonClient, { runId }: RunSummary, request: LogRequest): Promise<void> {
  const { signal } = new AbortController();
  const incoming = await client.open(`/runs/${segment(runId)}/logs?${queryOf(request, 0)}`, signal);
  incoming.destroy();
}

function queryOf({ step, attempt, stream }: LogRequest, tail: number | null): URLSearchParams {
  return new URLSearchParams({
    format: 'json',
    ...(step === null ? {} : { step }),
    ...(attempt === null ? {} : { attempt: String(attempt) }),
    ...(stream === null ? {} : { stream }),
    ...(tail === null ? {} : { tail: String(tail) }),
  });
}
