import { given } from '#core/data/collections.ts';
import { isNamed } from '#core/fan-out/instance-name.ts';
import { attemptKey, endsAttempt } from '#core/run/outcome.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import {
  type AttemptReference,
  attemptsOf,
  isGoingOn,
  keptText,
  type LogPart,
  type LogReader,
  logParts,
  lostText,
  showLogs,
  tailStart,
  whyNothing,
} from '#service/logs.ts';
import type { LogAnswer, LogRequest } from '#service/service.ts';
import { includesLog, logStream } from '#store/log-ends.ts';
import type { LogChunk, LogStream, RunLogs } from '#store/logs.ts';
import { failedAs, ifFound } from '#system/errors.ts';
import { answerBytes, type DaemonClient, Patience, segment } from './daemon-client.ts';
import { followRun } from './event-feed.ts';
import { numberIn, parseMap, textIn } from './json-fields.ts';
import { notUnderstood } from './problem-error.ts';
import { type KnownOutput, textLines } from './read-output.ts';
import { awaitRun, findRemoteRun, type RemoteRun, readRemoteRun } from './remote-runs.ts';

/** Attempts requested one by one, each of which makes the daemon read the run; more are requested together. */
const MOST_SINGLE_ATTEMPTS = 20;

/** Returns the output of a run of a daemon. Throws as `RunService.logs` does. */
export async function remoteLogs(client: DaemonClient, word: string, request: LogRequest): Promise<LogAnswer> {
  const { step, attempt, follow, tell } = request;
  const asked = await (follow
    ? awaitRun(client, word, tell)
    : findRemoteRun(client, word).then((found) => found.summary));
  const all = await logParts(asked, step, (runId) => runIfThere(client, runId));
  const parts = step === null && attempt === null ? all : await partsWith(client, request, all);
  return {
    runId: asked.runId,
    steps: parts[0]?.run.steps ?? asked.steps,
    read: async (reader, signal) => {
      for (const part of parts) {
        if (part.run !== asked) tell(keptText(step, part));
        // The last lines of all parts are printed together.
        const own = part === parts.at(-1) ? reader : { ...reader, release: () => undefined };
        await readAll({ client, request, reader: own, signal }, part);
      }
    },
  };
}

/** Asks the daemon for the parts with the attempt, so that its error names unknown steps. */
async function partsWith(
  client: DaemonClient,
  request: LogRequest,
  parts: readonly LogPart[],
): Promise<readonly LogPart[]> {
  const found: LogPart[] = [];
  let error: unknown = null;
  for (const part of parts) {
    try {
      await requireAttempt(client, part.run, request);
      found.push(part);
    } catch (problem) {
      if (!failedAs(problem, 'not-found')) throw problem;
      error = problem;
    }
  }
  if (found.length === 0) throw error;
  return found;
}

async function runIfThere(client: DaemonClient, runId: string): Promise<RunSummary | null> {
  return (await ifFound(findRemoteRun(client, runId)))?.summary ?? null;
}

type Reading = {
  readonly client: DaemonClient;
  readonly request: LogRequest;
  readonly reader: LogReader;
  readonly signal: AbortSignal;
};

async function readAll(reading: Reading, { run: summary, only }: LogPart): Promise<void> {
  const { client, request, reader, signal } = reading;
  const { step, attempt, stream, tail, times, exact, follow, tell } = request;
  if (!follow && !exact && (tail !== null || times || summary.steps.length > MOST_SINGLE_ATTEMPTS)) {
    const ofPart = only === null ? reading : { ...reading, request: { ...request, tail: null } };
    if (await readLines(ofPart, summary.runId, (each) => only === null || only.has(each.step))) return reader.release();
  }
  const run = await readRemoteRun(client, summary, remoteRunLogs(client, summary.runId, signal));
  const filter = { step, attempt, only };
  const attempts = attemptsOf(run, filter);
  const goesOn = follow && !isFinished(run.state);
  if (attempts.length === 0 && !goesOn) tell(whyNothing(run, step));
  const ended = new Set(attempts.filter((each) => !isGoingOn(run, each)).map(attemptKey));
  const isMany = ended.size > MOST_SINGLE_ATTEMPTS && tail === null && !exact;
  if (isMany) await readLines(reading, run.runId, (each) => ended.has(attemptKey(each)));
  const chosen = { filter, stream };
  const isRead = (each: AttemptReference) => isMany && ended.has(attemptKey(each));
  const start =
    tail === null ? (each: AttemptReference) => (isRead(each) ? null : 0) : await tailStart(run, chosen, tail);
  const now = times === true ? Date.now : undefined;
  const read = await showLogs(run, { ...chosen, start, now, reader });
  const known = read.filter((each) => isGoingOn(run, each));
  if (!goesOn) return;
  await readOn(reading, run, known);
  const last = signal.aborted ? null : await runIfThere(client, run.runId);
  const lost = last === null ? null : lostText(last);
  if (lost !== null) tell(lost);
}

async function readOn(reading: Reading, run: RemoteRun, known: readonly KnownOutput[]): Promise<void> {
  const { client, request, reader, signal } = reading;
  const after = run.stored?.events.at(-1)?.seq ?? 0;
  const following = { runId: run.runId, after, signal };
  const isMeant = isNamed(run.state, request.step);
  const isWanted = ({ step, attempt }: AttemptReference) => isMeant(step) && (request.attempt ?? attempt) === attempt;
  for await (const item of followRun(client, following, { step: request.step, known })) {
    if (item.kind === 'output') {
      const { chunk } = item;
      if (!isWanted(chunk) || !includesLog(request.stream, chunk.stream)) continue;
      reader.push(request.times ? { ...chunk, at: Date.now() } : chunk);
      if (reader.isBehind()) await reader.caughtUp();
    } else if (endsAttempt(item.event)) {
      if (isWanted(item.event)) reader.end(item.event.step);
    }
  }
}

async function requireAttempt(client: DaemonClient, { runId }: RunSummary, request: LogRequest): Promise<void> {
  const { signal } = new AbortController();
  const incoming = await client.open(`/runs/${segment(runId)}/logs?${queryOf(request, 0)}`, signal);
  incoming.destroy();
}

function queryOf({ step, attempt, stream, times }: LogRequest, tail: number | null): URLSearchParams {
  return new URLSearchParams({
    format: 'json',
    ...given({ step, attempt: attempt?.toString(), stream, times: times ? 'true' : null, tail: tail?.toString() }),
  });
}

const LONGEST_LINE = 256 * 1024 * 1024;

/** Pushes the lines of many attempts from one request; resolves to whether there were any. */
async function readLines(
  { client, request, reader, signal }: Reading,
  runId: string,
  isWanted: (attempt: AttemptReference) => boolean,
): Promise<boolean> {
  const path = `/runs/${segment(runId)}/logs?${queryOf(request, request.tail)}`;
  const incoming = await client.open(path, signal, { Accept: 'application/x-ndjson' });
  let before: LogChunk | null = null;
  for await (const line of textLines(answerBytes(incoming, client), LONGEST_LINE)) {
    const chunk = readLine(line, client, request.times === true);
    if (!isWanted(chunk)) continue;
    if (before !== null && (before.step !== chunk.step || before.attempt !== chunk.attempt)) reader.end(before.step);
    before = chunk;
    reader.push(chunk);
    if (reader.isClosed()) return true;
    if (reader.isBehind()) await reader.caughtUp();
  }
  if (before !== null) reader.end(before.step);
  return before !== null;
}

function readLine(line: string, { settings }: DaemonClient, times: boolean): LogChunk {
  const fields = parseMap(line) ?? {};
  const [step, text] = [textIn(fields, 'step'), textIn(fields, 'text')];
  const [attempt, stream] = [numberIn(fields, 'attempt'), logStream(fields['stream'])];
  if (step === null || attempt === null || text === null || stream === null) {
    throw notUnderstood(settings, 'a line of a log is invalid');
  }
  const bytes = Buffer.from(fields['continues'] === true ? text : `${text}\n`);
  if (!times) return { step, attempt, stream, bytes };
  const at = Date.parse(textIn(fields, 'at') ?? '');
  return { step, attempt, stream, bytes, at: Number.isNaN(at) ? null : at };
}

/** Returns the output of a run of a daemon. Reads wait if the daemon does not answer for a while, until the signal. */
export function remoteRunLogs(client: DaemonClient, runId: string, signal: AbortSignal): RunLogs {
  const pathOf = (step: string, attempt: number, stream: LogStream) =>
    `/runs/${segment(runId)}/steps/${segment(step)}/logs?attempt=${attempt}&stream=${stream}`;
  const known = new Map<string, readonly LogStream[]>();
  return {
    streams: async (step, attempt) => {
      const path = pathOf(step, attempt, 'stdout');
      const streams = known.get(path) ?? (await readStreams(client, path, signal));
      known.set(path, streams);
      return streams;
    },
    times: async (step, attempt, stream) => {
      const { times } = await client.get(
        `${pathOf(step, attempt, stream).replace('/logs?', '/logs/index?')}&times=true`,
      );
      // An earlier version has none.
      return Array.isArray(times) ? times.map(([size, at]) => [Number(size), Number(at)] as const) : null;
    },
    file: (step, attempt, stream) => {
      const path = pathOf(step, attempt, stream);
      return {
        path: null,
        size: async () => Number((await client.head(path))['content-length'] ?? 0),
        read: (from, to = Number.POSITIVE_INFINITY) => readRange(client, path, [from, to], signal),
      };
    },
  };
}

async function readStreams(client: DaemonClient, path: string, signal: AbortSignal): Promise<readonly LogStream[]> {
  const patience = new Patience(client);
  for (;;) {
    try {
      // An earlier version has two logs.
      const { 'log-streams': names = 'stdout, stderr' } = await client.head(path);
      patience.refresh();
      return String(names)
        .split(', ')
        .flatMap((name) => logStream(name) ?? []);
    } catch (error) {
      await patience.wait(error, signal);
    }
  }
}

/** Yields the bytes of a log; `path`: its API path with a query. */
async function* readRange(
  client: DaemonClient,
  path: string,
  [from, to]: readonly [from: number, to: number],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const patience = new Patience(client);
  for (let at = from; at < to; ) {
    try {
      // Not a header `Range`: a shorter log would be an error.
      const incoming = await client.open(`${path}&offset=${at}`, signal, { Accept: '*/*' });
      patience.refresh();
      for await (const bytes of answerBytes(incoming, client)) {
        const wanted = bytes.subarray(0, to - at);
        at += wanted.length;
        yield wanted;
        if (at >= to) return;
      }
      return;
    } catch (error) {
      await patience.wait(error, signal);
    }
  }
}
