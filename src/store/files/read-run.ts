import { existsSync } from 'node:fs';
import { WfError } from '../../errors.ts';
import type { StoredRun } from '../store.ts';
import { ownerIn, type Processes } from './control/owner.ts';
import { errorCode, storageError } from './disk/storage-error.ts';
import { type JournalContent, parseJournal, readJournalBytes } from './journal/journal-reader.ts';
import { createRunLogs } from './logs/run-logs.ts';
import { journalPath, logsPath } from './run-directory.ts';
import { readSnapshot, readSources, snapshotPath, sourcesPath } from './snapshot-file.ts';

/**
 * Reads a run from its directory, whoever is writing it. Null where no run is, and for one that a crash of the machine
 * cut short before it was flushed for the first time: it has no event, and what it was to start from is lost. Throws a
 * `WfError` `storage` when that is lost for a run that did begin.
 */
export function readRun(directory: string, runId: string, isAlive: Processes['isAlive']): StoredRun | null {
  const snapshot = readSnapshot(directory);
  const path = journalPath(directory);
  const { bytes, events, damage, isBlank } = readJournal(directory, path, isAlive);
  const sources = snapshot === null ? null : readSources(directory);
  // Removed while it was read: what is missing then is no damage.
  if ((bytes === null || sources === null) && !existsSync(directory)) return null;
  if (snapshot === null) {
    if (events.length === 0) return null;
    throw new WfError('storage', `"${snapshotPath(directory)}" is damaged: the run cannot be shown or retried`);
  }
  return {
    runId,
    workflow: snapshot.workflow,
    sources: sources ?? [],
    ...(snapshot.masked ? { masked: true } : {}),
    events,
    damage: [
      ...(bytes === null ? [unknownText(path, 'is missing')] : damage),
      ...(isBlank ? [unknownText(path, bytes?.length === 0 ? 'is empty' : 'has no whole line')] : []),
      ...(sources === null ? [`"${sourcesPath(directory)}" is damaged: places in the file cannot be shown.`] : []),
    ],
    logPaths: createRunLogs(logsPath(directory, snapshot.logs), snapshot.workflow).paths,
  };
}

type FoundJournal = JournalContent & {
  /** Null where there is none. */
  readonly bytes: Buffer | null;
  /** It holds no event, and nobody is there who could be about to write the first. */
  readonly isBlank: boolean;
};

/** What whoever held the run has written until it let go is in the second reading, where the first found nothing yet. */
function readJournal(directory: string, path: string, isAlive: Processes['isAlive']): FoundJournal {
  const read = () => {
    const bytes = readJournalBytes(path);
    return { bytes, ...parseJournal(bytes ?? Buffer.alloc(0), path) };
  };
  const isBlank = ({ events, damage }: JournalContent) => events.length === 0 && damage.length === 0;
  const first = read();
  if (first.bytes === null || !isBlank(first) || isHeld(directory, isAlive)) return { ...first, isBlank: false };
  const last = read();
  return { ...last, isBlank: last.bytes !== null && isBlank(last) };
}

function unknownText(path: string, problem: string): string {
  return `"${path}" ${problem}: nothing is known of what the run did.`;
}

/** Whoever holds a run that has no event yet has only just made it. Nobody holds one that is being removed. */
function isHeld(directory: string, isAlive: Processes['isAlive']): boolean {
  try {
    const owner = ownerIn(directory);
    return owner !== null && isAlive(owner);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw storageError('read', directory, error);
  }
}
