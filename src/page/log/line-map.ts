/** The start positions of lines of a log in pieces: every piece but the last has the same count of lines. */
export type LineMap = {
  /** In bytes. */
  readonly size: number;
  readonly lines: number;
  /** Lines per piece. */
  readonly every: number;
  /** The first byte of each piece. */
  readonly starts: readonly number[];
  /** Whether the file of the log does not exist. */
  readonly isGone: boolean;
  /** The logs of the attempt: `output`, or `stdout` and `stderr`. */
  readonly streams: readonly ('output' | 'stdout' | 'stderr')[];
  /** When the log grew: the sizes that it had reached, ascending, and milliseconds since 1970. Null: not asked for. */
  readonly times: readonly LogTime[] | null;
};

/** A size in bytes, and when the log had reached it. */
type LogTime = readonly number[];

/** A response of the log index: the pieces after the known ones. */
export type IndexPart = {
  readonly size: number;
  readonly lines: number;
  readonly every: number;
  readonly deltas: readonly number[];
  readonly isGone: boolean;
  readonly streams: LineMap['streams'];
  readonly times?: readonly LogTime[];
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
export function continueMap(map: LineMap, { lines, deltas, times, ...part }: IndexPart): LineMap {
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
