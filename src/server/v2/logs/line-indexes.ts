import type { LogFile } from '../../../store/logs.ts';

/** Where the lines of a log begin, as far as the log was read. */
export type LineIndex = {
  readonly size: number;
  /** A last line without its end counts. */
  readonly lines: number;
  /** From the start of one line to the start of the 512th after it, in bytes, from the start of the log on. */
  readonly deltas: readonly number[];
};

/** Indexes of logs. Those that were used last are kept, and continue at their end when a log has grown. */
export type LineIndexes = {
  readonly of: (file: LogFile) => Promise<LineIndex>;
  /** Lines per entry of an index. */
  readonly every: number;
};

const LINES_PER_DELTA = 512;
/** Indexes kept. */
const MAX_KEPT = 32;
const lineEnd = 0x0a;

type Growing = { size: number; lineEnds: number; endsWithLine: boolean; lastStart: number; readonly deltas: number[] };
type Entry = { readonly index: Growing; reading: Promise<unknown> };

/** No log is indexed yet. */
export function createLineIndexes(): LineIndexes {
  const kept = new Map<LogFile['path'], Entry>();
  const entryOf = ({ path }: LogFile, size: number): Entry => {
    const known = kept.get(path);
    // A log that has become shorter is another one.
    const isSame = known !== undefined && size >= known.index.size;
    const entry = isSame ? known : { index: emptyIndex(), reading: Promise.resolve() };
    kept.delete(path);
    kept.set(path, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry;
  };
  return {
    every: LINES_PER_DELTA,
    of: async (file) => {
      const entry = entryOf(file, await file.size());
      const reading = entry.reading.then(() => grow(entry.index, file.read(entry.index.size)));
      entry.reading = reading.catch(() => kept.delete(file.path));
      await reading;
      const { size, lineEnds, endsWithLine, deltas } = entry.index;
      return { size, lines: lineEnds + (endsWithLine || size === 0 ? 0 : 1), deltas };
    },
  };
}

function emptyIndex(): Growing {
  return { size: 0, lineEnds: 0, endsWithLine: true, lastStart: 0, deltas: [] };
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
