import { closeSync, existsSync, fsyncSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Owner } from '../../core/run/run.ts';
import { WfError } from '../../errors.ts';
import { removeIfPossible } from '../../remove-file.ts';
import type { StoredRun } from '../store.ts';
import { type Ownership, ownerOf, type Processes, releaseOwner, takeOver } from './control/owner.ts';
import { errorCode, openPrivate, storageError } from './disk/private-files.ts';
import type { JournalPosition } from './journal/journal-file.ts';
import { type JournalMark, markOf } from './journal/journal-mark.ts';
import { type JournalContent, parseJournal, readJournalBytes } from './journal/journal-reader.ts';
import { createRunLogs } from './logs/run-logs.ts';
import { journalPath, logsPath } from './run-directory.ts';
import { readSnapshot, readSources, snapshotPath, sourcesPath } from './snapshot-file.ts';

/** Journals as they were read, of runs without damage. */
export type JournalMarks = WeakMap<StoredRun, JournalMark>;

/**
 * Reads a run from its directory, even while it is being written. Null if there is no run, and for a run that a crash
 * of the machine cut short before its first flush: it has no event, and its snapshot is lost. Throws a `WfError`
 * `storage` if the snapshot of a run that did start is lost. `marks` gets the mark of its journal.
 */
export function readRun(
  directory: string,
  runId: string,
  { isAlive, marks }: { readonly isAlive: Processes['isAlive']; readonly marks?: JournalMarks },
): StoredRun | null {
  const snapshot = readSnapshot(directory);
  const path = journalPath(directory);
  const { bytes, events, length, damage, isBlank } = readJournal(directory, path, isAlive);
  const sources = snapshot === null ? null : readSources(directory);
  // Removed while it was read: missing files are not damage then.
  if ((bytes === null || sources === null) && !existsSync(directory)) return null;
  if (snapshot === null) {
    if (events.length === 0) return null;
    throw new WfError('storage', `"${snapshotPath(directory)}" is damaged: the run cannot be shown or retried`);
  }
  const run: StoredRun = {
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
    logs: createRunLogs(logsPath(directory, snapshot.logs), snapshot.workflow),
  };
  if (bytes !== null && run.damage.length === 0) marks?.set(run, markOf(bytes, { seq: events.length, length }));
  return run;
}

type FoundJournal = JournalContent & {
  /** Null if the file does not exist. */
  readonly bytes: Buffer | null;
  /** It contains no event, and no process could be about to write the first. */
  readonly isBlank: boolean;
};

/**
 * The second reading contains everything that the owner wrote until it gave the run up, even if the first found
 * nothing.
 */
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

/** The owner of a run without an event has just created it. A run that is being removed has no owner. */
function isHeld(directory: string, isAlive: Processes['isAlive']): boolean {
  try {
    const owner = ownerOf(directory);
    return owner !== null && isAlive(owner);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw storageError('read', directory, error);
  }
}

/** A run with a new owner. */
type RecoveredRun = {
  readonly position: JournalPosition;
  readonly ownership: Ownership;
  /** As for a new run: the previous owner may not have flushed it. */
  readonly unsynced: readonly string[];
};

/**
 * Makes `owner` the owner of a run and opens its journal after the last valid event. Everything after it is kept as
 * `journal.damaged-<n>`. Throws a `WfError` `run-active` if another process owns the run.
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
 * Rewrites the journal up to the damage and replaces the old file, even if that is intact: a previous owner that
 * was wrongly believed dead then writes to a file without a name, does no harm and notices it.
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

/** Leaves no file if the disk refuses it. */
function keepAside(directory: string, tail: Buffer): void {
  const taken = readdirSync(directory).map((name) => Number(/^journal\.damaged-(\d+)$/.exec(name)?.[1] ?? 0));
  const path = join(directory, `journal.damaged-${Math.max(0, ...taken) + 1}`);
  const fd = openPrivate(path, 'wx');
  try {
    writeFileSync(fd, tail);
    fsyncSync(fd);
  } catch (error) {
    removeIfPossible(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}
