import { type AttemptReference, attemptsOf } from '../../service/history/attempts.ts';
import { isGoingOn, type LogReader, type LogView } from '../../service/history/log-view.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import type { LogChunk } from '../../store/store.ts';
import type { DaemonClient } from '../daemon-client.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { notUnderstood } from '../transport/connection-problem.ts';
import { isObject, type JsonMap, numberIn, textIn } from '../transport/json-fields.ts';
import { textLines } from './text-lines.ts';

/** The maximum length of a line in characters; logs themselves have no limit. */
const longestLine = 256 * 1024 * 1024;

/** A request for stored logs; `path`: the path of their lines in JSON. */
export type LineRequest = {
  readonly path: string;
  readonly reader: Pick<LogReader, 'push' | 'end' | 'isBehind' | 'caughtUp' | 'isClosed'>;
  readonly signal: AbortSignal;
  readonly isWanted: (attempt: AttemptReference) => boolean;
};

/** Pushes the lines of stored logs to a reader, from one request; resolves to whether there were any. */
export async function readLogLines(
  client: DaemonClient,
  { path, reader, signal, isWanted }: LineRequest,
): Promise<boolean> {
  const incoming = await client.open(path, signal, { Accept: 'application/x-ndjson' });
  let before: LogChunk | null = null;
  for await (const line of textLines(answerBytes(incoming, client), longestLine)) {
    const chunk = readLine(line, client);
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

function readLine(line: string, { settings }: DaemonClient): LogChunk {
  const fields = parse(line);
  const [step, text] = [textIn(fields, 'step'), textIn(fields, 'text')];
  const [attempt, stream] = [numberIn(fields, 'attempt'), textIn(fields, 'stream')];
  if (step === null || attempt === null || text === null || (stream !== 'stdout' && stream !== 'stderr')) {
    throw notUnderstood(settings, 'a line of a log is invalid');
  }
  return { step, attempt, stream, bytes: Buffer.from(fields['continues'] === true ? text : `${text}\n`) };
}

function parse(line: string): JsonMap {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The size of the parts in which lines are searched from the end, at most four parts. */
const partBytes = 1024 * 1024;
const mostParts = 4;
const lineEnd = 0x0a;

/** Returns the start of the last lines in the stored logs of a run, so that only these are sent. */
export async function tailStart(
  client: DaemonClient,
  run: PastRun,
  { filter, stream, lines }: Pick<LogView, 'filter' | 'stream'> & { readonly lines: number },
): Promise<NonNullable<LogView['start']>> {
  const starts = new Map<string, number>();
  let left = lines;
  for (const attempt of [...attemptsOf(run, filter)].reverse()) {
    const paths = run.stored?.logPaths(attempt.step, attempt.attempt);
    for (const name of ['stderr', 'stdout'] as const) {
      if (paths === undefined || (stream ?? name) !== name) continue;
      // The lines are complete, and this stream no longer grows: skip it.
      if (left === 0 && !isGoingOn(run, attempt)) continue;
      const { offset, found } = await findTail(client, name === 'stdout' ? paths.stdoutPath : paths.stderrPath, left);
      left -= found;
      starts.set(key(attempt, name), offset);
    }
  }
  return (attempt, name) => starts.get(key(attempt, name)) ?? null;
}

/** Finds the offset and the number of the last lines of a log; the last line may be incomplete. */
async function findTail(client: DaemonClient, path: string, lines: number): Promise<{ offset: number; found: number }> {
  const size = await client.size(path);
  if (size === 0 || lines === 0) return { offset: size, found: 0 };
  for (let parts = 1; ; parts += 1) {
    const from = Math.max(0, size - parts * partBytes);
    const ends = (await lineEnds(client, path, { from, to: size })).filter((at) => at < size - 1);
    const end = ends.at(-lines);
    if (end !== undefined) return { offset: end + 1, found: lines };
    if (from === 0 || parts === mostParts) return { offset: from, found: ends.length + 1 };
  }
}

/** Returns the offsets of line ends in the log. */
async function lineEnds(
  client: DaemonClient,
  path: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number[]> {
  const incoming = await client.open(`${path}&offset=${from}`, new AbortController().signal, { Accept: '*/*' });
  const found: number[] = [];
  let offset = from;
  for await (const bytes of answerBytes(incoming, client)) {
    for (let at = bytes.indexOf(lineEnd); at !== -1; at = bytes.indexOf(lineEnd, at + 1)) found.push(offset + at);
    offset += bytes.length;
    if (offset >= to) break;
  }
  return found;
}

function key({ step, attempt }: AttemptReference, stream: LogChunk['stream']): string {
  return `${stream} ${attempt} ${step}`;
}
