import { readFileSync } from 'node:fs';
import type { StoredEvent } from '#core/run/run.ts';
import { errorCode, storageError } from '../disk/private-files.ts';
import { decodeEvent } from './journal-line.ts';

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
export function parseLines(
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
