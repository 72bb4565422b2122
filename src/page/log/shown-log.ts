import { signal } from '@preact/signals';
import { type AnsiSpan, type AnsiSpans, createAnsiSpans } from '#run-view/components.ts';
import { ApiProblem } from '../api/client.ts';
import { showsLogTimes } from '../data/page-settings.ts';
import { coalesced } from '../data/resource.ts';
import {
  type ByteSpan,
  bytesOfPiece,
  emptyMap,
  type LineMap,
  PieceLines,
  type ReadLine,
  timeBefore,
} from './line-map.ts';
import { type LogName, readBytes, readMap } from './log-api.ts';

/** A coloured log line. */
export type ShownLine = { readonly spans: readonly AnsiSpan[]; readonly cut: ReadLine['cut'] };

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

/** A log of any size, of which only visible lines are read. */
export class ShownLog {
  readonly name: LogName;
  /** Null: not read yet. */
  readonly map = signal<LineMap | null>(null);
  readonly problem = signal<ApiProblem | null>(null);
  readonly version = signal(0);
  readonly #pieces = new Map<number, Piece>();
  /** Cut lines that were read further. */
  readonly #whole = new Map<number, ShownLine>();
  readonly #closed = new AbortController();
  #wanted = { first: 0, last: 0 };
  #reading: { readonly piece: number; readonly abort: AbortController } | null = null;

  constructor(name: LogName) {
    this.name = name;
  }

  /** Reads the current size of the log. Calls during a read share one further read. */
  readonly update = coalesced(async () => {
    try {
      const next = await readMap(this.name, this.map.value ?? emptyMap, showsLogTimes.value);
      if (this.#closed.signal.aborted) return;
      if (next.isReplaced) this.#forgetLines();
      this.map.value = next.map;
      this.problem.value = null;
      void this.#pump();
    } catch (error) {
      this.#fail(error);
    }
  });

  /** Reads lines from `first` to before `last`, from 0, and lines added to them, until another range is requested. */
  want(first: number, last: number): void {
    this.#wanted = { first, last };
    if (this.#reading !== null && !this.#wantedPieces().includes(this.#reading.piece)) this.#reading.abort.abort();
    void this.#pump();
  }

  /** A line by its index; null: not read. */
  line(index: number): ShownLine | null {
    const { every } = this.map.value ?? emptyMap;
    const piece = this.#pieces.get(Math.floor(index / every));
    return this.#whole.get(index) ?? (piece === undefined ? null : shownLine(piece, index % every));
  }

  /** Reads a cut line up to `MAX_WHOLE_BYTES`. */
  async readWhole(index: number): Promise<void> {
    const cut = this.#readLine(index)?.cut;
    if (!cut) return;
    try {
      const to = Math.min(cut.to, cut.from + MAX_WHOLE_BYTES);
      const text = lastState(await readText(this.name, { from: cut.from, to }));
      this.#whole.set(index, { spans: createAnsiSpans()(text), cut: null });
      this.version.value += 1;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The text of lines from `first` to before `last`, without colours. */
  async text(first: number, last: number): Promise<string> {
    const { every, starts, size } = this.map.value ?? emptyMap;
    const span = { from: starts[Math.floor(first / every)] ?? 0, to: starts[Math.ceil(last / every)] ?? size };
    if (span.from >= span.to) return '';
    const skipped = first % every;
    const lines = (await readText(this.name, span)).split('\n').slice(skipped, skipped + last - first);
    const spansOf = createAnsiSpans();
    const plain = lines.map((line) => spansOf(lastState(line)).map((span) => span.text));
    return plain.map((texts) => texts.join('')).join('\n');
  }

  /** When a line (from 0) was complete; null: unknown. */
  timeOf(index: number): number | null {
    const line = this.#readLine(index);
    return line ? timeBefore(this.map.value ?? emptyMap, line.end) : null;
  }

  close(): void {
    this.#closed.abort();
  }

  #readLine(index: number): ReadLine | null {
    const { every } = this.map.value ?? emptyMap;
    return this.#pieces.get(Math.floor(index / every))?.lines.at(index % every) ?? null;
  }

  #fail(error: unknown): void {
    if (!this.#closed.signal.aborted) this.problem.value = ApiProblem.of(error);
  }

  #forgetLines(): void {
    this.#pieces.clear();
    this.#whole.clear();
    this.#reading?.abort.abort();
  }

  #pieceOf(index: number): Piece {
    const known = this.#pieces.get(index);
    const from = this.map.value?.starts[index] ?? 0;
    const piece = known ?? { lines: new PieceLines(from), spansOf: createAnsiSpans(), shown: [] };
    this.#pieces.delete(index);
    this.#pieces.set(index, piece);
    const [oldest] = this.#pieces.keys();
    if (this.#pieces.size > MAX_PIECES && oldest !== undefined) this.#pieces.delete(oldest);
    return piece;
  }

  #wantedPieces(): readonly number[] {
    const { every } = this.map.value ?? emptyMap;
    const between = (first: number, last: number) => {
      const [from, to] = [Math.max(0, Math.floor(first / every)), Math.ceil(last / every)];
      return Array.from({ length: Math.min(MAX_PIECES / 2, Math.max(0, to - from)) }, (_, index) => from + index);
    };
    const { first, last } = this.#wanted;
    return last === 0 ? [] : [...between(first, last), ...between(first - SPARE_LINES, last + SPARE_LINES)];
  }

  /** The bytes of a piece that are not read; null: none. */
  #missingBytes(index: number): ByteSpan | null {
    const span = this.map.value === null ? null : bytesOfPiece(this.map.value, index);
    const from = this.#pieces.get(index)?.lines.to ?? span?.from ?? 0;
    return span === null || from >= span.to ? null : { from, to: span.to };
  }

  async #pump(): Promise<void> {
    if (this.#reading !== null || this.#closed.signal.aborted) return;
    const piece = this.#wantedPieces().find((index) => this.#missingBytes(index) !== null);
    if (piece === undefined) return;
    const abort = new AbortController();
    this.#reading = { piece, abort };
    try {
      await this.#readPiece(piece, AbortSignal.any([abort.signal, this.#closed.signal]));
      this.problem.value = null;
    } catch (error) {
      // The received bytes are kept: the next request continues after them.
      if (!abort.signal.aborted) return this.#fail(error);
    } finally {
      this.#reading = null;
    }
    await this.#pump();
  }

  async #readPiece(index: number, signal: AbortSignal): Promise<void> {
    const missing = this.#missingBytes(index);
    const { lines } = this.#pieceOf(index);
    if (missing === null) return;
    let shownTo = lines.to;
    for await (const chunk of readBytes(this.name, missing, signal)) {
      lines.add(chunk);
      if (lines.to - shownTo < SHOWN_BYTES && lines.to < missing.to) continue;
      shownTo = lines.to;
      this.version.value += 1;
    }
  }
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
