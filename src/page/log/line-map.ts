import type { LogIndex } from '#run-view/api/types.ts';

/** The start positions of lines of a log in pieces: every piece but the last has the same count of lines. */
export type LineMap = {
  /** In bytes. */
  readonly size: number;
  readonly lines: number;
  /** Lines per piece. */
  readonly every: number;
  /** The first byte of each piece. */
  readonly starts: readonly number[];
  readonly isGone: boolean;
  /** The logs of the attempt: `output`, or `stdout` and `stderr`. */
  readonly streams: LogIndex['streams'];
  /** When the log grew: the sizes that it had reached, ascending, and milliseconds since 1970. Null: not asked for. */
  readonly times: LogIndex['times'] | null;
};

/** A part of a log: bytes from `from` (inclusive) to `to` (exclusive). */
export type ByteSpan = { readonly from: number; readonly to: number };

/** A log without bytes. */
export const emptyMap: LineMap = {
  size: 0,
  lines: 0,
  every: 512,
  starts: [0],
  isGone: false,
  streams: ['output'],
  times: null,
};

/** Extends a map by a response for the bytes after its last known start. */
export function continueMap(map: LineMap, { lines, deltas, times, ...part }: LogIndex): LineMap {
  const starts = [...map.starts];
  const after = starts.at(-1) ?? 0;
  for (const delta of deltas) starts.push((starts.at(-1) ?? 0) + delta);
  // The last known time of a running attempt is that of the request.
  const known = (map.times ?? []).filter(([size = 0]) => size <= after);
  return {
    ...part,
    lines: (map.starts.length - 1) * part.every + lines,
    starts,
    times: times === undefined ? null : [...known, ...times],
  };
}

/** Returns when the bytes before `end` were written, in milliseconds since 1970; null: unknown. */
export function timeBefore({ times }: LineMap, end: number): number | null {
  let [from, to] = [0, times?.length ?? 0];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((times?.[middle]?.[0] ?? 0) >= end) to = middle;
    else from = middle + 1;
  }
  return times?.[from]?.[1] ?? null;
}

/** The bytes of a piece; null if the log does not have it. */
export function bytesOfPiece({ starts, size }: LineMap, piece: number): ByteSpan | null {
  const from = starts[piece];
  return from === undefined || from >= size ? null : { from, to: starts[piece + 1] ?? size };
}

/** Longer lines are cut, in bytes. */
export const MAX_LINE_BYTES = 10_000;

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A displayed line. `cut` is set if only its start is shown: all bytes of the line in the log. `end`: behind its line end. */
export type ReadLine = { readonly text: string; readonly cut: ByteSpan | null; readonly end: number };

/**
 * Splits a part of a log into lines. After carriage returns only the last text of a line is kept, as a terminal shows
 * it. Invalid UTF-8 becomes U+FFFD. At most `MAX_LINE_BYTES` of each line are held.
 */
export class PieceLines {
  readonly #lines: ReadLine[] = [];
  #open: OpenLine;
  #to: number;

  /** `from`: the position of the first byte in the log, at the start of a line. */
  constructor(from: number) {
    this.#open = new OpenLine(from);
    this.#to = from;
  }

  /** The position after the last byte read. */
  get to(): number {
    return this.#to;
  }

  /** Count of lines, including the incomplete one. */
  get length(): number {
    return this.#lines.length + (this.#open.from < this.#to ? 1 : 0);
  }

  get finished(): number {
    return this.#lines.length;
  }

  at(index: number): ReadLine | null {
    return this.#lines[index] ?? (index < this.length ? this.#open.read(this.#to) : null);
  }

  add(bytes: Uint8Array): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.#open.add(bytes.subarray(start, end));
      this.#lines.push(this.#open.read(this.#to + end, 1));
      this.#open = new OpenLine(this.#to + end + 1);
      start = end + 1;
    }
    this.#open.add(bytes.subarray(start));
    this.#to += bytes.length;
  }
}

/** An incomplete line. */
class OpenLine {
  readonly from: number;
  /** The start of the text after the last carriage return. */
  #kept = new Uint8Array();
  #isCut = false;
  /** A carriage return takes effect when text follows; before a line end it is part of the line end. */
  #isReturned = false;

  constructor(from: number) {
    this.from = from;
  }

  add(bytes: Uint8Array): void {
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === CARRIAGE_RETURN) end -= 1;
    if (end > 0) {
      const lastReturn = bytes.lastIndexOf(CARRIAGE_RETURN, end - 1);
      if (this.#isReturned || lastReturn !== -1) {
        this.#kept = new Uint8Array();
        this.#isCut = false;
      }
      this.#keep(bytes.subarray(lastReturn + 1, end));
    }
    this.#isReturned = end < bytes.length || (this.#isReturned && end === 0);
  }

  /** `lineEnd`: the bytes of its line end. */
  read(to: number, lineEnd = 0): ReadLine {
    return {
      text: decoder.decode(this.#isCut ? wholeCharacters(this.#kept) : this.#kept),
      cut: this.#isCut ? { from: this.from, to } : null,
      end: to + lineEnd,
    };
  }

  #keep(bytes: Uint8Array): void {
    const length = Math.min(MAX_LINE_BYTES, this.#kept.length + bytes.length);
    if (this.#kept.length + bytes.length > length) this.#isCut = true;
    // A copy: a part of a chunk would keep all of it in memory.
    const kept = new Uint8Array(length);
    kept.set(this.#kept);
    kept.set(bytes.subarray(0, length - this.#kept.length), this.#kept.length);
    this.#kept = kept;
  }
}

/** Without the last character if it is cut. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  const last = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  return last !== -1 && bytes.length - last <= 3 && (bytes[last] ?? 0) >= 0xc0 ? bytes.subarray(0, last) : bytes;
}

/** Selected lines, counted from 1, both ends inclusive. */
export type LineRange = { readonly from: number; readonly to: number };

/** Reads `#L1204` or `#L1204-L1210`; null for anything else. */
export function lineRangeOf(hash: string): LineRange | null {
  const [, first, second = first] = /^#L([1-9]\d{0,11})(?:-L([1-9]\d{0,11}))?$/.exec(hash) ?? [];
  if (first === undefined) return null;
  const lines = [Number(first), Number(second)];
  return { from: Math.min(...lines), to: Math.max(...lines) };
}

/** The fragment of an address that selects these lines; empty: none. */
export function hashOf(range: LineRange | null): string {
  if (range === null) return '';
  return range.from === range.to ? `#L${range.from}` : `#L${range.from}-L${range.to}`;
}
