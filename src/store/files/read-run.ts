import { existsSync } from 'node:fs';
import { WfError } from '../../errors.ts';
import type { StoredRun } from '../store.ts';
import { ownerIn, type Processes } from './control/owner.ts';
import { storing } from './disk/storage-error.ts';
import { parseJournal, readJournalBytes } from './journal/journal-reader.ts';
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
  const bytes = readJournalBytes(path);
  const { events, damage } = parseJournal(bytes ?? Buffer.alloc(0), path);
  const sources = snapshot === null ? null : readSources(directory);
  // Removed while it was read: what is missing then is no damage.
  if ((bytes === null || sources === null) && !existsSync(directory)) return null;
  if (snapshot === null) {
    if (events.length === 0) return null;
    throw new WfError('storage', `"${snapshotPath(directory)}" is damaged: the run cannot be shown or retried`);
  }
  const isBlank = events.length === 0 && damage.length === 0 && !isHeld(directory, isAlive);
  return {
    runId,
    workflow: snapshot.workflow,
    sources: sources ?? [],
    ...(snapshot.masked ? { masked: true } : {}),
    events,
    damage: [
      ...(bytes === null ? [unknownText(path, 'is missing')] : damage),
      ...(bytes !== null && isBlank ? [unknownText(path, bytes.length === 0 ? 'is empty' : 'has no whole line')] : []),
      ...(sources === null ? [`"${sourcesPath(directory)}" is damaged: places in the file cannot be shown.`] : []),
    ],
    logPaths: createRunLogs(logsPath(directory, snapshot.logs), snapshot.workflow).paths,
  };
}

function unknownText(path: string, problem: string): string {
  return `"${path}" ${problem}: nothing is known of what the run did.`;
}

/** Whoever holds a run that has no event yet has only just made it. */
function isHeld(directory: string, isAlive: Processes['isAlive']): boolean {
  const owner = storing('read', directory, () => ownerIn(directory));
  return owner !== null && isAlive(owner);
}
