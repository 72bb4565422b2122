import { type ReadonlySignal, signal } from '@preact/signals';
import { type AnsiSpan, type AnsiSpans, createAnsiSpans } from '#run-view/components.ts';
import { ApiProblem } from '../api/client.ts';
import { showsLogTimes } from '../data/page-settings.ts';
import { bytesOfPiece, emptyMap, type LineMap, PieceLines, type ReadLine, timeBefore } from './line-map.ts';
import { type LogName, readBytes, readMap } from './log-api.ts';

/** A coloured log line. */
export type ShownLine = { readonly spans: readonly AnsiSpan[]; readonly cut: ReadLine['cut'] };

/** A log of any size, of which only visible lines are read. */
export type ShownLog = {
  readonly name: LogName;
  /** Null: not read yet. */
  readonly map: ReadonlySignal<LineMap | null>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  /** Changes when lines have arrived. */
  readonly version: ReadonlySignal<number>;
  /** Reads the current size of the log. Calls during a read share one further read. */
  readonly update: () => void;
  /**
   * Reads lines from `first` up to but not including `last`, from 0, and lines added to them, until another range is
   * requested.
   */
  readonly want: (first: number, last: number) => void;
  /** A line by its index; null: not read. */
  readonly line: (index: number) => ShownLine | null;
  /** Reads a cut line up to `MAX_WHOLE_BYTES`. */
  readonly readWhole: (index: number) => Promise<void>;
  /** The text of lines from `first` up to but not including `last`, without colours. */
  readonly text: (first: number, last: number) => Promise<string>;
  /** When a line (from 0) was complete; null: unknown. */
  readonly timeOf: (line: number) => number | null;
  readonly close: () => void;
};

/** Number of cached pieces. */
const MAX_PIECES = 16;
/** Lines read before and after the requested ones, so that most movements need no request. */
const SPARE_LINES = 128;
/** A piece with long lines is displayed as it arrives, this many bytes at a time. */
const SHOWN_BYTES = 1024 * 1024;
/** At most this much of one line is displayed, in bytes. */
export const MAX_WHOLE_BYTES = 1024 * 1024;

type Piece = {
  readonly lines: PieceLines;
  readonly spansOf: AnsiSpans;
  /** Colours of the requested complete lines and those before them: a colour continues on the next line. */
  readonly shown: ShownLine[];
};

/** Creates an empty log. */
export function showLog(name: LogName): ShownLog {
  const map = signal<LineMap | null>(null);
  const problem = signal<ApiProblem | null>(null);
  const version = signal(0);
  const pieces = new Map<number, Piece>();
  const whole = new Map<number, ShownLine>();
  const closed = new AbortController();
  let wanted = { first: 0, last: 0 };
  let reading: { readonly piece: number; readonly abort: AbortController } | null = null;

  const changed = () => {
    version.value += 1;
  };
  const fail = (error: unknown) => {
    if (!closed.signal.aborted) problem.value = ApiProblem.of(error);
  };
  const pieceOf = (index: number) => {
    const known = pieces.get(index);
    const piece = known ?? {
      lines: new PieceLines(map.value?.starts[index] ?? 0),
      spansOf: createAnsiSpans(),
      shown: [],
    };
    pieces.delete(index);
    pieces.set(index, piece);
    const [oldest] = pieces.keys();
    if (pieces.size > MAX_PIECES && oldest !== undefined) pieces.delete(oldest);
    return piece;
  };
  const wantedPieces = () => {
    const every = map.value?.every ?? 1;
    const between = (first: number, last: number) => {
      const [from, to] = [Math.max(0, Math.floor(first / every)), Math.ceil(last / every)];
      return Array.from({ length: Math.min(MAX_PIECES / 2, Math.max(0, to - from)) }, (_, index) => from + index);
    };
    const { first, last } = wanted;
    return last === 0 ? [] : [...between(first, last), ...between(first - SPARE_LINES, last + SPARE_LINES)];
  };
  const readPiece = async (index: number, signal: AbortSignal) => {
    const { lines } = pieceOf(index);
    const span = map.value === null ? null : bytesOfPiece(map.value, index);
    if (span === null || lines.to >= span.to) return;
    let shownTo = lines.to;
    for await (const chunk of readBytes(name, { from: lines.to, to: span.to }, signal)) {
      lines.add(chunk);
      if (lines.to - shownTo < SHOWN_BYTES && lines.to < span.to) continue;
      shownTo = lines.to;
      changed();
    }
  };
  const isRead = (index: number) => {
    const span = map.value === null ? null : bytesOfPiece(map.value, index);
    return span === null || (pieces.get(index)?.lines.to ?? -1) >= span.to;
  };
  /** Reads the requested pieces one after another. */
  const pump = async () => {
    if (reading !== null || closed.signal.aborted) return;
    const next = wantedPieces().find((index) => !isRead(index));
    if (next === undefined) return;
    const abort = new AbortController();
    reading = { piece: next, abort };
    try {
      await readPiece(next, AbortSignal.any([abort.signal, closed.signal]));
      problem.value = null;
    } catch (error) {
      // The received bytes are kept: the next request continues after them.
      if (!abort.signal.aborted) {
        fail(error);
        return;
      }
    } finally {
      reading = null;
    }
    await pump();
  };
  const forgetLines = () => {
    pieces.clear();
    whole.clear();
    reading?.abort.abort();
  };
  const update = async () => {
    try {
      const next = await readMap(name, map.value ?? emptyMap, showsLogTimes.value);
      if (closed.signal.aborted) return;
      if (next.isReplaced) forgetLines();
      map.value = next.map;
      problem.value = null;
      void pump();
    } catch (error) {
      fail(error);
    }
  };

  return {
    name,
    map,
    problem,
    version,
    update: joined(update),
    want: (first, last) => {
      wanted = { first, last };
      if (reading !== null && !wantedPieces().includes(reading.piece)) reading.abort.abort();
      void pump();
    },
    line: (index) => {
      const every = map.value?.every ?? 1;
      const piece = pieces.get(Math.floor(index / every));
      return whole.get(index) ?? (piece === undefined ? null : shownLine(piece, index % every));
    },
    readWhole: async (index) => {
      const every = map.value?.every ?? 1;
      const cut = pieces.get(Math.floor(index / every))?.lines.at(index % every)?.cut;
      if (!cut) return;
      try {
        const to = Math.min(cut.to, cut.from + MAX_WHOLE_BYTES);
        const text = lastState(await readText(name, { from: cut.from, to }));
        whole.set(index, { spans: createAnsiSpans()(text), cut: null });
        changed();
      } catch (error) {
        fail(error);
      }
    },
    text: async (first, last) => {
      const { every, starts, size } = map.value ?? emptyMap;
      const span = { from: starts[Math.floor(first / every)] ?? 0, to: starts[Math.ceil(last / every)] ?? size };
      if (span.from >= span.to) return '';
      const skipped = first % every;
      const lines = (await readText(name, span)).split('\n').slice(skipped, skipped + last - first);
      const spansOf = createAnsiSpans();
      return lines.map((line) => plainText(spansOf(lastState(line)))).join('\n');
    },
    timeOf: (index) => {
      const known = map.value ?? emptyMap;
      const line = pieces.get(Math.floor(index / known.every))?.lines.at(index % known.every);
      return line ? timeBefore(known, line.end) : null;
    },
    close: () => closed.abort(),
  };
}

function shownLine({ lines, spansOf, shown }: Piece, index: number): ShownLine | null {
  const limit = Math.min(index + 1, lines.finished);
  for (let next = shown.length; next < limit; next++) shown.push(withColors(lines.at(next), spansOf));
  const known = shown[index];
  if (known !== undefined) return known;
  const open = lines.at(index);
  // The last line can still grow, so its colours are read again each time.
  return open === null ? null : withColors(open, createAnsiSpans());
}

function withColors(line: ReadLine | null, spansOf: AnsiSpans): ShownLine {
  return { spans: spansOf(line?.text ?? ''), cut: line?.cut ?? null };
}

/** The text of a line without its colours. */
function plainText(spans: readonly AnsiSpan[]): string {
  return spans.map(({ text }) => text).join('');
}

/** Programs overwrite a line with carriage returns: keep the last text. */
function lastState(line: string): string {
  const text = line.replace(/\r+$/, '');
  return text.slice(text.lastIndexOf('\r') + 1);
}

async function readText(name: LogName, span: { from: number; to: number }): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for await (const chunk of readBytes(name, span)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** A call during another one waits for it; further calls share the waiting one. */
function joined(action: () => Promise<void>): () => void {
  let isRunning = false;
  let isAsked = false;
  const run = async () => {
    isAsked = true;
    if (isRunning) return;
    isRunning = true;
    while (isAsked) {
      isAsked = false;
      await action();
    }
    isRunning = false;
  };
  return () => void run();
}
