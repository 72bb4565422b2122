import { closeSync, fsyncSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Owner } from '../../core/run/run.ts';
import { removeIfPossible } from '../../remove-file.ts';
import { type Ownership, type Processes, releaseOwner, takeOver } from './control/owner.ts';
import { openPrivate } from './disk/private-files.ts';
import type { JournalPosition } from './journal/journal-file.ts';
import { parseJournal, readJournalBytes } from './journal/journal-reader.ts';
import { journalPath } from './run-directory.ts';
import { snapshotPath, sourcesPath } from './snapshot-file.ts';

/** A run that has changed hands. */
export type RecoveredRun = {
  readonly position: JournalPosition;
  readonly ownership: Ownership;
  /** As for a new run: nobody knows whether the owner before came to flush it. */
  readonly unsynced: readonly string[];
};

/**
 * Makes `owner` the owner of a run and opens its journal behind the last event that can be trusted. What follows that
 * event is kept as `journal.damaged-<n>`. Throws a `WfError` `run-active` when somebody else owns the run.
 */
export function recoverRun(directory: string, owner: Owner, isAlive: Processes['isAlive']): RecoveredRun {
  const ownership = takeOver(directory, owner, isAlive);
  try {
    const unsynced = [snapshotPath(directory), sourcesPath(directory), directory, dirname(directory)];
    return { position: replaceJournal(directory, ownership.path), ownership, unsynced };
  } catch (error) {
    releaseOwner(ownership);
    throw error;
  }
}

/**
 * Writes the journal anew, up to the damage, and puts it in the place of the old one, also when that is whole: an owner
 * that was believed dead and is not then writes into a file without a name, harms nothing and finds out.
 */
function replaceJournal(directory: string, ownerPath: string): JournalPosition {
  const path = journalPath(directory);
  const bytes = readJournalBytes(path) ?? Buffer.alloc(0);
  const { events, length } = parseJournal(bytes, path);
  if (length < bytes.length) keepAside(directory, bytes.subarray(length));
  const draft = join(directory, `.journal-${basename(ownerPath)}`);
  const fd = openPrivate(draft, 'ax');
  try {
    writeFileSync(fd, bytes.subarray(0, length));
    fsyncSync(fd);
    renameSync(draft, path);
    return { path, fd, length, seq: events.length };
  } catch (error) {
    closeSync(fd);
    removeIfPossible(draft);
    throw error;
  }
}

function keepAside(directory: string, tail: Buffer): void {
  const taken = readdirSync(directory).map((name) => Number(/^journal\.damaged-(\d+)$/.exec(name)?.[1] ?? 0));
  const fd = openPrivate(join(directory, `journal.damaged-${Math.max(0, ...taken) + 1}`), 'wx');
  try {
    writeFileSync(fd, tail);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
