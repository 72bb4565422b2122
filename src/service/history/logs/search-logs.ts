import { includesLog } from '#store/log-ends.ts';
import type { LogStream } from '#store/logs.ts';
import { createSlices, ownTurn } from '#system/turns.ts';
import type { FindLines } from '../../workflows/line-matcher.ts';
import type { PastRun } from '../past-run.ts';
import { type AttemptFilter, type AttemptReference, attemptsOf } from './log-view.ts';

/** A matching line of a log. */
export type LogHit = AttemptReference & {
  readonly stream: LogStream;
  /** From 1, in this log. */
  readonly line: number;
  /** The start of the line, in bytes. */
  readonly offset: number;
  /** The beginning of the line. */
  readonly text: string;
};

/** The search: a literal text, which is fastest, or a search among the lines of a text. */
export type LogQuery = { readonly text: string } | { readonly find: FindLines };

/** The scope of a search. */
export type LogSearch = {
  readonly query: LogQuery;
  readonly filter: AttemptFilter;
  /** Null: all. */
  readonly stream: LogStream | null;
  /** Ends the search early, even while it finds nothing. */
  readonly isClosed: () => boolean;
};

const MAX_TEXT_LENGTH = 1000;
/** A longer line is searched in pieces of this size. */
const MAX_LINE_BYTES = 1024 * 1024;
const LINE_END = 0x0a;

/** Yields the matching lines, attempt after attempt. Throws `not-found` for an unknown step. */
export async function* searchLogs(run: PastRun, search: LogSearch): AsyncGenerator<LogHit, void> {
  for (const attempt of attemptsOf(run, search.filter)) {
    if (run.stored === null) continue;
    const { logs } = run.stored;
    for (const stream of await logs.streams(attempt.step, attempt.attempt)) {
      if (!includesLog(search.stream, stream)) continue;
      const chunks = logs.file(attempt.step, attempt.attempt, stream).read(0);
      for await (const found of searchChunks(chunks, search)) {
        yield { step: attempt.step, attempt: attempt.attempt, stream, ...found };
      }
    }
  }
}

type Found = Pick<LogHit, 'line' | 'offset' | 'text'>;

async function* searchChunks(
  chunks: AsyncIterable<Uint8Array>,
  { query, isClosed }: Pick<LogSearch, 'query' | 'isClosed'>,
): AsyncGenerator<Found, void> {
  let left: Buffer = Buffer.alloc(0);
  let [line, offset] = [1, 0];
  await ownTurn();
  const pause = createSlices();
  for await (const chunk of chunks) {
    await pause();
    if (isClosed()) return;
    const bytes = Buffer.concat([left, chunk]);
    const lastEnd = bytes.lastIndexOf(LINE_END) + 1;
    const end = lastEnd === 0 && bytes.length > MAX_LINE_BYTES ? bytes.length : lastEnd;
    const whole = bytes.subarray(0, end);
    yield* searchLines(whole, query, { line, offset });
    line += countLineEnds(whole);
    offset += end;
    left = bytes.subarray(end);
  }
  yield* searchLines(left, query, { line, offset });
}

type Position = { readonly line: number; readonly offset: number };

async function* searchLines(bytes: Buffer, query: LogQuery, start: Position): AsyncGenerator<Found, void> {
  if (bytes.length === 0) return;
  if ('text' in query) return yield* findText(bytes, query.text, start);
  yield* linesAt(bytes, await query.find(bytes.toString()), start);
}

/** Only lines that contain the text are decoded. No line contains a line end. */
function* findText(bytes: Buffer, text: string, start: Position): Generator<Found> {
  if (text.includes('\n')) return;
  let [line, lineStart] = [start.line, 0];
  for (let at = bytes.indexOf(text); at !== -1; ) {
    const before = bytes.subarray(lineStart, at);
    line += countLineEnds(before);
    lineStart += before.lastIndexOf(LINE_END) + 1;
    const found = bytes.indexOf(LINE_END, at);
    const end = found === -1 ? bytes.length : found;
    yield { line, offset: start.offset + lineStart, text: shownText(bytes.subarray(lineStart, end)) };
    at = bytes.indexOf(text, end);
  }
}

function* linesAt(bytes: Buffer, indexes: readonly number[], start: Position): Generator<Found> {
  let [index, at] = [0, 0];
  for (const wanted of indexes) {
    for (; index < wanted; index += 1) at = bytes.indexOf(LINE_END, at) + 1;
    const found = bytes.indexOf(LINE_END, at);
    const text = shownText(bytes.subarray(at, found === -1 ? bytes.length : found));
    yield { line: start.line + index, offset: start.offset + at, text };
  }
}

/** A character has four bytes at most. */
function shownText(bytes: Buffer): string {
  return bytes
    .subarray(0, 4 * MAX_TEXT_LENGTH)
    .toString()
    .slice(0, MAX_TEXT_LENGTH);
}

function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
