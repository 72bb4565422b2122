import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { StoredEvent } from '#core/run/run.ts';
import { errorCode, storageError } from '../disk/private-files.ts';
import { parseLines } from './journal-reader.ts';

/** How far a journal without damage was read. */
export type JournalMark = {
  /** The number of events. */
  readonly seq: number;
  /** The number of bytes, from the start, that contain them. */
  readonly length: number;
  /** The last of these bytes: with the same last line, all lines are the same. */
  readonly end: Buffer;
};

/** Longer than most lines, each of which has its number, its time and its checksum. */
const endBytes = 256;

/** The mark of a journal that was read; `length` is that of its `seq` events. */
export function markOf(bytes: Buffer, { seq, length }: Pick<JournalMark, 'seq' | 'length'>): JournalMark {
  return { seq, length, end: Buffer.from(bytes.subarray(Math.max(0, length - endBytes), length)) };
}

/**
 * The events of a journal after a mark. Null if the journal has to be read as a whole: it is missing, damaged, or was
 * replaced. Throws a `WfError` `storage`.
 */
export function readAfter(
  path: string,
  mark: JournalMark,
): { readonly events: readonly StoredEvent[]; readonly mark: JournalMark } | null {
  const bytes = readFrom(path, mark.length - mark.end.length);
  if (bytes === null || !bytes.subarray(0, mark.end.length).equals(mark.end)) return null;
  const { events, length, isDamaged } = parseLines(bytes.subarray(mark.end.length), mark.seq + 1);
  if (isDamaged) return null;
  if (events.length === 0) return { events, mark };
  const added = { seq: mark.seq + events.length, length: mark.length + length };
  const { end } = markOf(bytes, { seq: 0, length: mark.end.length + length });
  return { events, mark: { ...added, end } };
}

/** The bytes of a file from an offset; null if it does not exist or is shorter. */
function readFrom(path: string, offset: number): Buffer | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    const size = fstatSync(fd).size - offset;
    if (size < 0) return null;
    const bytes = Buffer.allocUnsafe(size);
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read)
      read = readSync(fd, bytes, length, size - length, offset + length);
    return bytes.subarray(0, length);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw storageError('read', path, error);
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
