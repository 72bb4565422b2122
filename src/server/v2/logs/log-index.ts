import { existsSync } from 'node:fs';
import { type AttemptReference, attemptsOf } from '#service/history/attempts.ts';
import { createLogTimes } from '#service/history/logs/log-view.ts';
import type { PastRun } from '#service/history/past-run.ts';
import type { LogFile, LogStream, LogTime } from '#store/logs.ts';
import { readQuery } from '../../requests.ts';
import { type ApiRequest, type Handler, HttpError, jsonReply, type Reply } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';
import { logOf, streamsOf } from './step-log.ts';

/** `GET /api/v2/runs/{id}/steps/{step}/logs/index`. */
export function stepLogIndex(parts: V2Parts): Handler {
  const indexes = createLineIndexes();
  return (request) => logIndex(request, indexes, parts);
}

async function logIndex({ params, query }: ApiRequest, indexes: LineIndexes, parts: V2Parts): Promise<Reply> {
  const { id = '', step = '' } = params;
  const { attempt, stream, after, times: wantsTimes } = readQuery('stepLogIndex', query);
  const run = await namedRun(id, parts);
  const attempts = attemptsOf(run, { step, attempt: attempt ?? 'last' });
  const file = await logOf(run, { step, stream }, attempts);
  const streams = await streamsOf(run, attempts);
  const empty = { size: 0, lines: 0, every: indexes.every, deltas: [], isGone: false, streams };
  if (file === null) return jsonReply({ ...empty, ...(wantsTimes ? { times: [] } : {}) });
  const index = await indexes.of(file);
  const known = knownDeltas(index.deltas, after);
  return jsonReply({
    size: index.size,
    lines: index.lines - known * indexes.every,
    every: indexes.every,
    deltas: index.deltas.slice(known),
    isGone: index.size === 0 && file.path !== null && !existsSync(file.path),
    streams,
    ...(wantsTimes ? { times: await timesIn(run, { attempts, stream, size: index.size, after }, parts) } : {}),
  });
}

type OfLog = {
  readonly attempts: readonly AttemptReference[];
  readonly stream: LogStream;
  readonly size: number;
  readonly after: number;
};

/** When the log of the one attempt grew beyond `after`; of the joined log of several that is not known. */
async function timesIn(
  run: PastRun,
  { attempts: [attempt, ...others], stream, size, after }: OfLog,
  { clock }: Pick<V2Parts, 'clock'>,
): Promise<readonly LogTime[]> {
  if (attempt === undefined || others.length > 0) return [];
  const times = await createLogTimes(run, clock.now)(attempt, stream);
  return times.filter(([reached]) => reached > after).map(([reached, at]) => [Math.min(reached, size), at]);
}

/**
 * Returns the count of deltas up to the position `after`. Throws an `HttpError` 400 if the index does not have that
 * position.
 */
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

/** The positions of lines in the part of the log that was read. */
type LineIndex = {
  readonly size: number;
  /** An incomplete last line counts. */
  readonly lines: number;
  /**
   * The distances in bytes between the starts of a line and of the 512th line after it, from the start of the log on.
   */
  readonly deltas: readonly number[];
};

/** Creates a cache of log indexes. The most recently used ones are kept, and extended when a log has grown. */
type LineIndexes = {
  readonly of: (file: LogFile) => Promise<LineIndex>;
  /** Lines per entry of an index. */
  readonly every: number;
};

const LINES_PER_DELTA = 512;
/** Number of cached indexes. */
const MAX_KEPT = 32;
const lineEnd = 0x0a;

type Growing = { size: number; lineEnds: number; endsWithLine: boolean; lastStart: number; readonly deltas: number[] };
type Entry = { readonly index: Growing; reading: Promise<unknown> };

/** Starts with an empty cache. */
function createLineIndexes(): LineIndexes {
  const kept = new Map<LogFile['path'], Entry>();
  const entryOf = ({ path }: LogFile, size: number): Entry => {
    const known = kept.get(path);
    // A log that has become shorter has been replaced.
    const isSame = known !== undefined && size >= known.index.size;
    const entry = isSame ? known : newEntry();
    kept.delete(path);
    kept.set(path, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry;
  };
  return {
    every: LINES_PER_DELTA,
    of: async (file) => {
      // A joined log changes with each line.
      const entry = file.path === null ? newEntry() : entryOf(file, await file.size());
      const reading = entry.reading.then(() => grow(entry.index, file.read(entry.index.size)));
      entry.reading = reading.catch(() => kept.delete(file.path));
      await reading;
      const { size, lineEnds, endsWithLine, deltas } = entry.index;
      return { size, lines: lineEnds + (endsWithLine || size === 0 ? 0 : 1), deltas };
    },
  };
}

function newEntry(): Entry {
  const index = { size: 0, lineEnds: 0, endsWithLine: true, lastStart: 0, deltas: [] };
  return { index, reading: Promise.resolve() };
}

async function grow(index: Growing, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    const start = index.size;
    for (let at = chunk.indexOf(lineEnd); at !== -1; at = chunk.indexOf(lineEnd, at + 1)) {
      index.lineEnds += 1;
      if (index.lineEnds % LINES_PER_DELTA !== 0) continue;
      const next = start + at + 1;
      index.deltas.push(next - index.lastStart);
      index.lastStart = next;
    }
    index.size += chunk.length;
    index.endsWithLine = chunk.at(-1) === lineEnd;
  }
}
