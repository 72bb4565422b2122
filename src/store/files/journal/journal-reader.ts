import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { StoredEvent } from '#core/run/run.ts';
import { errorCode } from '#system/errors.ts';
import type { RunCreated, StoredRun } from '../../store.ts';
import { seal, storageError, unseal } from '../disk/private-files.ts';
import { journalPath } from '../run-directory.ts';

const lineEnd = 0x0a;

/** The valid part of a journal. */
export type JournalContent = {
  readonly events: readonly StoredEvent[];
  /** Number of bytes, from the start, that contain these events. */
  readonly length: number;
  readonly damage: readonly string[];
};

/** The bytes of a journal; null if the file does not exist. */
export function readJournalBytes(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw storageError('read', path, error);
  }
}

/**
 * The events up to the first damaged line. An invalid last line is not damage: it is being written, or its writer
 * died.
 */
export function parseJournal(bytes: Buffer, path: string): JournalContent {
  const { events, length, isDamaged } = parseLines(bytes, 1);
  return { events, length, damage: isDamaged ? [describe(path, events.length + 1, length, bytes)] : [] };
}

/** The events of whole lines, numbered from `seq`, as `parseJournal` returns them; `length`: the bytes of these lines. */
function parseLines(
  bytes: Buffer,
  seq: number,
): Pick<JournalContent, 'events' | 'length'> & { readonly isDamaged: boolean } {
  const events: StoredEvent[] = [];
  let length = 0;
  for (;;) {
    const end = bytes.indexOf(lineEnd, length);
    const event = end === -1 ? null : decodeEvent(bytes.subarray(length, end), seq + events.length);
    if (event === null) return { events, length, isDamaged: end !== -1 && end !== bytes.length - 1 };
    events.push(event);
    length = end + 1;
  }
}

function describe(path: string, line: number, offset: number, bytes: Buffer): string {
  const left = bytes.length - offset;
  return `Line ${line} of "${path}" is damaged: the ${left} bytes from byte ${offset} on cannot be relied on and are left out.`;
}

/** One event as a line of the journal, with its line end. */
export function encodeEvent(event: StoredEvent): string {
  return `${seal(JSON.stringify(event))}\n`;
}

/** The event of a line without its line end; null if it is damaged or its number is not `seq`. */
export function decodeEvent(line: Buffer, seq: number): StoredEvent | null {
  const value = unseal(line);
  return isEvent(value) && value.seq === seq ? value : null;
}

/** A line with a valid checksum was written by wf: an unknown type of event comes from a later version. */
function isEvent(value: unknown): value is StoredEvent {
  return typeof value === 'object' && value !== null && 'seq' in value && 'type' in value;
}

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

/**
 * Maximum length of a first line read alone, in bytes; for a longer one, with many parameters, the whole journal is
 * read.
 */
const usualBytes = 4096;

/** The events of the run in a directory, without its snapshot; empty if there is no journal. */
export function readEvents(directory: string): Pick<StoredRun, 'events' | 'damage'> {
  const path = journalPath(directory);
  const { events, damage } = parseJournal(readJournalBytes(path) ?? Buffer.alloc(0), path);
  return { events, damage };
}

/** The first event of the run in a directory. Null if there is none yet, it is damaged, or it cannot be read. */
export function readCreated(directory: string): RunCreated | null {
  const line = readFirstLine(journalPath(directory));
  const event = line === null ? null : decodeEvent(line, 1);
  return event?.type === 'run.created' ? event : null;
}

function readFirstLine(path: string): Buffer | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    const start = Buffer.allocUnsafe(usualBytes);
    const bytes = start.subarray(0, readSync(fd, start, 0, usualBytes, 0));
    if (bytes.includes(lineEnd)) return bytes.subarray(0, bytes.indexOf(lineEnd));
    const all = bytes.length < usualBytes ? bytes : readJournalBytes(path);
    const end = all?.indexOf(lineEnd) ?? -1;
    return all === null || end === -1 ? null : all.subarray(0, end);
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
