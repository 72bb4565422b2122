import { existsSync } from 'node:fs';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { isFinished } from '#core/run/run-state.ts';
import { stepMark } from '#render/log-lines.ts';
import type { PastRun } from '#service/history.ts';
import { type AttemptReference, attemptsOf, createLogTimes, followLogs } from '#service/logs.ts';
import type { LogChunk, LogFile, LogStream } from '#store/logs.ts';
import type { Queries } from '../../generated/requests.mjs';
import { createStreamWriter, streamReply } from '../../reply/event-stream.ts';
import { type ApiRequest, type Handler, HttpError, jsonReply, type Reply, readQuery } from '../../route.ts';
import { namedRun, type V2Handler, type V2Parts } from '../v2-parts.ts';
import { following } from './log-pages.ts';

type Wanted = Omit<Queries['stepLog'], 'follow' | 'download'> & { readonly step: string };

/** `GET /api/v2/runs/{id}/steps/{step}/logs`. */
export const stepLog: V2Handler = async ({ params: { id = '', step = '' }, query, headers }, parts) => {
  const { follow, download, ...chosen } = readQuery('stepLog', query);
  const wanted: Wanted = { step, ...chosen };
  const run = await namedRun(id, parts);
  const attempts = attemptsOf(run, { step, attempt: chosen.attempt ?? 'last' });
  const last = attempts.at(-1) ?? null;
  const file = download ? { 'Content-Disposition': `attachment; filename="${fileName(run, wanted, last)}"` } : {};
  const streams = { 'Log-Streams': (await streamsOf(run, attempts)).join(', ') };
  const own = { 'Content-Type': 'text/plain; charset=utf-8', 'Accept-Ranges': 'bytes', ...streams, ...file };
  const log = await logOf(run, wanted, attempts);
  if (follow && !isFinished(run.state)) return followed(run, { ...wanted, log, headers: own }, parts);
  // The response has no tag, so a conditional range cannot match.
  const range = headers['if-range'] === undefined ? headers.range : undefined;
  return stored(log, { range, offset: wanted.offset, headers: own }, parts);
};

/** The names of the logs of the attempts: two if an attempt has two. */
async function streamsOf(
  { stored: found }: PastRun,
  attempts: readonly AttemptReference[],
): Promise<readonly LogStream[]> {
  let streams: readonly LogStream[] = ['output'];
  for (const { step, attempt } of attempts) {
    const own = found === null ? streams : await found.logs.streams(step, attempt);
    if (own.length > streams.length) streams = own;
  }
  return streams;
}

/** The log of the attempt; for a fan-out those of its instances. */
async function logOf(
  { stored: found }: PastRun,
  { step, stream }: Pick<Wanted, 'step' | 'stream'>,
  attempts: readonly AttemptReference[],
): Promise<LogFile | null> {
  const last = attempts.at(-1);
  if (found === null || last === undefined) return null;
  const own = attempts.filter((attempt) => attempt.step !== step && isInstanceOf(attempt.step, step));
  if (own.length === 0) return found.logs.file(last.step, last.attempt, stream);
  return joinedLog(
    own.map((each) => ({ header: stepMark(each.step), file: found.logs.file(each.step, each.attempt, stream) })),
  );
}

function isInstanceOf(name: string, step: string): boolean {
  return splitInstanceName(name)?.step === step;
}

type Headers = Readonly<Record<string, string>>;

async function stored(
  file: LogFile | null,
  { range, offset, headers }: { range: string | undefined; offset: number; headers: Headers },
  { clock }: V2Parts,
): Promise<Reply> {
  const size = (await file?.size()) ?? 0;
  const found = byteRange(range, size);
  if (found === 'unsatisfiable') {
    throw new HttpError(416, `the log has ${size} bytes`, { headers: { 'Content-Range': `bytes */${size}` } });
  }
  const { from, to }: ByteRange = found ?? { from: Math.min(offset, size), to: size };
  const shown = found === null ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${size}` };
  return {
    status: found === null ? 200 : 206,
    headers: { ...headers, ...shown, 'Content-Length': String(to - from) },
    stream: async (output, signal) => {
      const writer = createStreamWriter(output, signal, clock);
      let left = to - from;
      for await (const bytes of file?.read(from, to) ?? []) {
        left -= bytes.length;
        writer.write(bytes);
        if (writer.isBehind()) await writer.caughtUp();
        if (writer.isClosed()) return;
      }
      // The log was truncated or removed meanwhile: the response must not look complete.
      if (left > 0) output.destroy();
    },
  };
}

function followed(
  run: PastRun,
  { step, attempt, stream, offset, log, headers }: Wanted & { log: LogFile | null; headers: Headers },
  parts: V2Parts,
): Reply {
  const own = { ...headers, 'X-Accel-Buffering': 'no' };
  return streamReply(own, { clock: parts.clock, isQuiet: true }, async (writer, signal) => {
    let shown = '';
    const reader = {
      push: ({ step: from, bytes }: LogChunk) => {
        if (from !== shown && isInstanceOf(from, step)) writer.write(Buffer.from(`${stepMark(from)}\n`));
        shown = from;
        writer.write(bytes);
      },
      end: () => {},
      release: () => {},
    };
    const view = { ...following(parts, signal), reader: { ...reader, ...writer }, stream };
    const start = Math.min(offset, (await log?.size()) ?? 0);
    await followLogs(run, { ...view, filter: { step, attempt: attempt ?? 'last' }, start: () => start });
  });
}

function fileName({ runId: id }: PastRun, { step, stream }: Wanted, last: AttemptReference | null): string {
  const name = `${id}-${step}.${last?.attempt ?? 0}.${stream === 'output' ? '' : `${stream}.`}log`;
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(-200);
}

/** Bytes from `from` (inclusive) to `to` (exclusive). */
export type ByteRange = { readonly from: number; readonly to: number };

/**
 * Parses a `Range` header for a body of `size` bytes: one range; null for the whole body, also for several ranges and for an
 * invalid header (RFC 9110, 14.2); `unsatisfiable` for a range outside the body.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec((header ?? '').replace(/\s/g, '')) ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Number(last);
    return length === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - length), to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size : Math.min(size, Number(last) + 1) };
}

/** A part of the joined log: its own bytes and where they begin. */
type JoinedPart = { readonly start: number; readonly size: number; readonly read: LogFile['read'] };

/** Joins the present content of logs to one, each after its header; empty logs are left out. */
async function joinedLog(sections: readonly { header: string; file: LogFile }[]): Promise<LogFile> {
  const parts: JoinedPart[] = [];
  let length = 0;
  const add = (size: number, read: LogFile['read']) => {
    parts.push({ start: length, size, read });
    length += size;
  };
  let isLineOpen = false;
  for (const { header, file } of sections) {
    const size = await file.size();
    if (size === 0) continue;
    const text = Buffer.from(`${isLineOpen ? '\n' : ''}${header}\n`);
    add(text.length, (from, to) => bytesOf(text.subarray(from, to)));
    add(size, file.read);
    isLineOpen = (await lastByte(file, size)) !== LINE_END;
  }
  return {
    path: null,
    size: async () => length,
    read: (from, to = length) => readParts(parts, from, Math.min(to, length)),
  };
}

async function* readParts(parts: readonly JoinedPart[], from: number, to: number): AsyncGenerator<Uint8Array> {
  for (const { start, size, read } of parts) {
    const [first, end] = [Math.max(from - start, 0), Math.min(to - start, size)];
    if (first < end) yield* read(first, end);
  }
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function lastByte(file: LogFile, size: number): Promise<number | undefined> {
  let last: number | undefined;
  for await (const bytes of file.read(size - 1, size)) last = bytes.at(-1);
  return last;
}

/** `GET /api/v2/runs/{id}/steps/{step}/logs/index`. */
export function stepLogIndex(parts: V2Parts): Handler {
  const indexes = new LineIndexes();
  return (request) => logIndex(request, indexes, parts);
}

async function logIndex({ params, query }: ApiRequest, indexes: LineIndexes, parts: V2Parts): Promise<Reply> {
  const { id = '', step = '' } = params;
  const { attempt, stream, after, times: wantsTimes } = readQuery('stepLogIndex', query);
  const run = await namedRun(id, parts);
  const attempts = attemptsOf(run, { step, attempt: attempt ?? 'last' });
  const file = await logOf(run, { step, stream }, attempts);
  const streams = await streamsOf(run, attempts);
  const empty = { size: 0, lines: 0, every: LINES_PER_DELTA, deltas: [], isGone: false, streams };
  if (file === null) return jsonReply({ ...empty, ...(wantsTimes ? { times: [] } : {}) });
  const index = await indexes.of(file);
  const { size } = index;
  const known = knownDeltas(index.deltas, after);
  const lines = index.lines - known * LINES_PER_DELTA;
  const isGone = size === 0 && file.path !== null && !existsSync(file.path);
  const read = { ...empty, size, lines, deltas: index.deltas.slice(known), isGone };
  if (!wantsTimes) return jsonReply(read);
  const [only, ...others] = attempts;
  // Of the joined log of several attempts it is not known when it grew.
  const all = only === undefined || others.length > 0 ? [] : await createLogTimes(run, parts.clock.now)(only, stream);
  const times = all.filter(([reached]) => reached > after).map(([reached, at]) => [Math.min(reached, size), at]);
  return jsonReply({ ...read, times });
}

/** Returns how many deltas lead to the position `after`. Throws an `HttpError` 400 for a position between two. */
function knownDeltas(deltas: readonly number[], after: number): number {
  let position = 0;
  let known = 0;
  while (position < after && known < deltas.length) {
    position += deltas[known] ?? 0;
    known += 1;
  }
  if (position === after) return known;
  throw new HttpError(400, '"after" is not a position of this index', { help: 'leave it out for the whole index' });
}

const LINES_PER_DELTA = 512;
const MAX_KEPT = 32;
const LINE_END = 0x0a;

/** The positions of lines in the part of a log that was read. */
class LineIndex {
  size = 0;
  lineEnds = 0;
  endsWithLine = true;
  lastStart = 0;
  /** The distances in bytes between the starts of a line and of the 512th line after it, from the start of the log on. */
  readonly deltas: number[] = [];
  reading: Promise<unknown> = Promise.resolve();

  /** An incomplete last line counts. */
  get lines(): number {
    return this.lineEnds + (this.endsWithLine ? 0 : 1);
  }
}

/** The indexes of the most recently used logs, which are extended when a log has grown. */
class LineIndexes {
  readonly #kept = new Map<LogFile['path'], LineIndex>();

  async of(file: LogFile): Promise<LineIndex> {
    // A joined log changes with each line.
    const index = file.path === null ? new LineIndex() : this.#indexOf(file, await file.size());
    const reading = index.reading.then(() => grow(index, file.read(index.size)));
    index.reading = reading.catch(() => this.#kept.delete(file.path));
    await reading;
    return index;
  }

  #indexOf({ path }: LogFile, size: number): LineIndex {
    const known = this.#kept.get(path);
    // A log that has become shorter has been replaced.
    const index = known !== undefined && size >= known.size ? known : new LineIndex();
    this.#kept.delete(path);
    this.#kept.set(path, index);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return index;
  }
}

async function grow(index: LineIndex, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    const start = index.size;
    for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, at + 1)) {
      index.lineEnds += 1;
      if (index.lineEnds % LINES_PER_DELTA !== 0) continue;
      const next = start + at + 1;
      index.deltas.push(next - index.lastStart);
      index.lastStart = next;
    }
    index.size += chunk.length;
    index.endsWithLine = chunk.at(-1) === LINE_END;
  }
}
