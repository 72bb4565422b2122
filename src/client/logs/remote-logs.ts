import { isFinished } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import { type AttemptReference, attemptsOf } from '../../service/history/attempts.ts';
import { isGoingOn, type LogReader, type LogView } from '../../service/history/log-view.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import { whyNothing } from '../../service/history/why-nothing.ts';
import type { LogRequest, RunLogs } from '../../service/service.ts';
import { type DaemonClient, segment } from '../daemon-client.ts';
import { followRun } from '../events/event-feed.ts';
import type { KnownOutput } from '../events/known-output.ts';
import { awaitRun, findRun } from '../find-runs.ts';
import { readRemoteRun } from '../remote-run.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { createPatience } from '../transport/patience.ts';
import { readLogLines, tailStart } from './log-lines.ts';

/** Attempts requested one by one, each of which makes the daemon read the run; more are requested together. */
const mostSingleAttempts = 20;

/** Returns the output of a run of a daemon. Throws as `RunService.logs` does. */
export async function remoteLogs(client: DaemonClient, word: string, request: LogRequest): Promise<RunLogs> {
  const { step, attempt, follow, tell } = request;
  const summary = await (follow ? awaitRun(client, word, tell) : findRun(client, word).then((found) => found.summary));
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
  const { client, request, reader } = reading;
  const { follow, exact, tail, step, tell } = request;
  if (!follow && !exact && (tail !== null || summary.steps.length > mostSingleAttempts)) {
    if (await readLines(reading, summary.runId, () => true)) return reader.release();
  }
  const run = await readRemoteRun(client, summary);
  const attempts = attemptsOf(run, request);
  const goesOn = follow && !isFinished(run.state);
  if (attempts.length === 0 && !goesOn) tell(whyNothing(run, step));
  const known = await readStored(reading, run, attempts);
  reader.release();
  if (goesOn) await readOn(reading, run, known);
}

/** Pushes the stored logs: attempt by attempt, standard output before standard error. */
async function readStored(
  reading: Reading,
  run: PastRun,
  attempts: readonly AttemptReference[],
): Promise<readonly KnownOutput[]> {
  const { client, request, reader, signal } = reading;
  const { tail, exact, step, attempt, stream } = request;
  const ended = attempts.filter((each) => !isGoingOn(run, each));
  const isMany = ended.length > mostSingleAttempts && tail === null && !exact;
  if (isMany) await readLines(reading, run.runId, (each) => ended.some((one) => isSame(one, each)));
  const chosen = { filter: { step, attempt }, stream };
  const start = tail === null ? () => 0 : await tailStart(client, run, { ...chosen, lines: tail });
  const known: KnownOutput[] = [];
  for (const each of isMany ? attempts.filter((one) => isGoingOn(run, one)) : attempts) {
    const stdout = await readStream({ run, each, stream: 'stdout', start }, reading);
    const stderr = await readStream({ run, each, stream: 'stderr', start }, reading);
    if (isGoingOn(run, each)) known.push({ ...each, stdout, stderr });
    else reader.end(each.step);
    if (signal.aborted) break;
  }
  return known;
}

type StoredStream = {
  readonly run: PastRun;
  readonly each: AttemptReference;
  readonly stream: 'stdout' | 'stderr';
  readonly start: NonNullable<LogView['start']>;
};

/** Pushes one stored stream and returns the offset that was reached. */
async function readStream({ run, each, stream, start }: StoredStream, reading: Reading): Promise<number> {
  const { client, request, reader, signal } = reading;
  const paths = run.stored?.logPaths(each.step, each.attempt);
  let offset = start(each, stream);
  if (paths === undefined || offset === null || (request.stream ?? stream) !== stream) return 0;
  const path = stream === 'stdout' ? paths.stdoutPath : paths.stderrPath;
  for await (const bytes of readRemoteLog(client, { path, offset, signal })) {
    offset += bytes.length;
    reader.push({ ...each, stream, bytes });
    if (reader.isClosed()) break;
    if (reader.isBehind()) await reader.caughtUp();
  }
  return offset;
}

async function readOn(reading: Reading, run: PastRun, known: readonly KnownOutput[]): Promise<void> {
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

function readLines(
  { client, request, reader, signal }: Reading,
  runId: string,
  isWanted: (attempt: AttemptReference) => boolean,
): Promise<boolean> {
  const path = `/runs/${segment(runId)}/logs?${queryOf(request, request.tail)}`;
  return readLogLines(client, { path, reader, signal, isWanted });
}

function isSame(one: AttemptReference, other: AttemptReference): boolean {
  return one.step === other.step && one.attempt === other.attempt;
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

/**
 * Reads a log from an offset to its present end, and waits if the daemon does not answer for a while. `path`: one of
 * `remoteLogPaths`.
 */
async function* readRemoteLog(
  client: DaemonClient,
  { path, offset, signal }: LogPart,
): AsyncGenerator<Uint8Array, void> {
  const patience = createPatience(client);
  let at = offset;
  for (;;) {
    try {
      const incoming = await client.open(`${path}&offset=${at}`, signal, { Accept: '*/*' });
      patience.refresh();
      for await (const bytes of answerBytes(incoming, client)) {
        at += bytes.length;
        yield bytes;
      }
      return;
    } catch (error) {
      await patience.wait(error, signal);
    }
  }
}

/** The part of a log after an offset. */
type LogPart = {
  readonly path: string;
  readonly offset: number;
  readonly signal: AbortSignal;
};
