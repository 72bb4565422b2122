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
};

/** A response of the log index: the pieces after the known ones. */
export type IndexPart = {
  readonly size: number;
  readonly lines: number;
  readonly every: number;
  readonly deltas: readonly number[];
  readonly isGone: boolean;
  readonly streams: LineMap['streams'];
};

/** A part of a log: bytes from `from` (inclusive) to `to` (exclusive). */
export type ByteSpan = { readonly from: number; readonly to: number };

/** A log without bytes. */
export const emptyMap: LineMap = { size: 0, lines: 0, every: 512, starts: [0], isGone: false, streams: ['output'] };

/** Extends a map by a response for the bytes after its last known start. */
export function continueMap(map: LineMap, { size, lines, every, deltas, isGone, streams }: IndexPart): LineMap {
  const starts = [...map.starts];
  for (const delta of deltas) starts.push((starts.at(-1) ?? 0) + delta);
  return { size, lines: (map.starts.length - 1) * every + lines, every, starts, isGone, streams };
}

/** The bytes of a piece; null if the log does not have it. */
export function bytesOfPiece({ starts, size }: LineMap, piece: number): ByteSpan | null {
  const from = starts[piece];
  return from === undefined || from >= size ? null : { from, to: starts[piece + 1] ?? size };
}
