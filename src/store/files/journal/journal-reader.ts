import { fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { StoredEvent } from '#core/run/run.ts';
import { tryOr } from '#system/errors.ts';
import { closing } from '#system/files.ts';
import type { RunCreated, StoredRun } from '../../store.ts';
import { sealedLine, unlessMissing, unseal } from '../disk/private-files.ts';
import { journalPath } from '../run-directory.ts';

const LINE_END = 0x0a;

/** The valid part of a journal. */
export type JournalContent = {
  readonly events: readonly StoredEvent[];
  /** Number of bytes, from the start, that contain these events. */
  readonly length: number;
  readonly damage: readonly string[];
};

/** The bytes of a journal; null if the file does not exist. */
export function readJournalBytes(path: string): Buffer | null {
  return unlessMissing(path, () => readFileSync(path));
}

/** The events up to the first damaged line; an invalid last line is being written, or its writer died. */
export function parseJournal(bytes: Buffer, path: string): JournalContent {
  const { events, length, isDamaged } = parseLines(bytes, 1);
  const rest = `the ${bytes.length - length} bytes from byte ${length} on cannot be relied on and are left out`;
  return { events, length, damage: isDamaged ? [`Line ${events.length + 1} of "${path}" is damaged: ${rest}.`] : [] };
}

/** The events of whole lines, numbered from `seq`, as `parseJournal` returns them; `length`: the bytes of these lines. */
function parseLines(
  bytes: Buffer,
  seq: number,
): Pick<JournalContent, 'events' | 'length'> & { readonly isDamaged: boolean } {
  const events: StoredEvent[] = [];
  let length = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_END, length);
    const event = end === -1 ? null : decodeEvent(bytes.subarray(length, end), seq + events.length);
    if (event === null) return { events, length, isDamaged: end !== -1 && end !== bytes.length - 1 };
    events.push(event);
    length = end + 1;
  }
}

/** One event as a line of the journal, with its line end. */
export function encodeEvent(event: StoredEvent): string {
  return sealedLine(event);
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
  readonly seq: number;
  /** The number of bytes, from the start, that contain them. */
  readonly length: number;
  /** The last of these bytes: with the same last line, all lines are the same. */
  readonly end: Buffer;
};

/** Longer than most lines, each of which has its number, its time and its checksum. */
const END_BYTES = 256;

/** The mark of a journal that was read; `length` is that of its `seq` events. */
export function markOf(bytes: Buffer, { seq, length }: Pick<JournalMark, 'seq' | 'length'>): JournalMark {
  return { seq, length, end: Buffer.from(bytes.subarray(Math.max(0, length - END_BYTES), length)) };
}

/** The events after a mark; null if the journal is missing, damaged or replaced, so that all of it has to be read. */
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
  return unlessMissing(path, () =>
    closing(openSync(path, 'r'), (fd) => {
      const size = fstatSync(fd).size - offset;
      return size < 0 ? null : readBytes(fd, offset, size);
    }),
  );
}

/** Bytes of an open file; fewer if it ends earlier. */
export function readBytes(fd: number, from: number, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count);
  let length = 0;
  for (let read = -1; read !== 0 && length < count; length += read)
    read = readSync(fd, bytes, length, count - length, from + length);
  return bytes.subarray(0, length);
}

/** Maximum length of a first line read alone, in bytes; for a longer one, with many parameters, the whole journal is read. */
const USUAL_BYTES = 4096;

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
  return tryOr(null, () => {
    const start = closing(openSync(path, 'r'), (fd) => readBytes(fd, 0, USUAL_BYTES));
    const bytes = start.length < USUAL_BYTES || start.includes(LINE_END) ? start : readJournalBytes(path);
    const end = bytes?.indexOf(LINE_END) ?? -1;
    return bytes === null || end === -1 ? null : bytes.subarray(0, end);
  });
}
