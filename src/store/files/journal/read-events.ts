import { closeSync, openSync, readSync } from 'node:fs';
import type { RunCreated, StoredRun } from '../../store.ts';
import { journalPath } from '../run-directory.ts';
import { decodeEvent } from './journal-line.ts';
import { parseJournal, readJournalBytes } from './journal-reader.ts';

/**
 * Maximum length of a first line read alone, in bytes; for a longer one, with many parameters, the whole journal is
 * read.
 */
const usualBytes = 4096;
const lineEnd = 0x0a;

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
