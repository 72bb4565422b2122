import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushDirectory } from '../../../durable-file.ts';
import { WfError } from '../../../errors.ts';
import { errorCode, makePrivateDirectory, storageError } from '../disk/private-files.ts';
import { removeOutsideLogs } from '../logs/outside-logs.ts';
import { diskSpace } from './disk-usage.ts';

/*
 * A run is removed in two steps: a rename into `.trash`, after which no process sees it, and the removal of its files. After
 * a crash between the two, the run still has its snapshot, which contains the location of its logs; the next removal, or
 * `emptyTrash`, finishes it.
 */

/** Moves a run out of the history and removes it; returns the freed bytes. Throws a `WfError` `storage`. */
export function discardRun(runsDir: string, runId: string): number {
  const trash = join(runsDir, '.trash');
  const entry = join(trash, `${runId}~${process.pid}-${Math.random().toString(36).slice(2)}`);
  try {
    makePrivateDirectory(trash);
    requireDirectory(trash);
    requireDirectory(join(runsDir, runId));
    renameSync(join(runsDir, runId), entry);
  } catch (error) {
    throw storageError('remove', join(runsDir, runId), error);
  }
  return removeEntry(runsDir, entry);
}

/** Finishes interrupted removals; returns the freed bytes, and the problems of entries that stay. */
export function emptyTrash(runsDir: string): { readonly bytes: number; readonly problems: readonly string[] } {
  const trash = join(runsDir, '.trash');
  const problems: string[] = [];
  let bytes = 0;
  for (const name of namesIn(trash)) {
    try {
      bytes += removeEntry(runsDir, join(trash, name));
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      problems.push(error.message);
    }
  }
  return { bytes, problems };
}

/** The logs outside first: without the entry, nothing would point to them. Another process may be removing it, too. */
function removeEntry(runsDir: string, entry: string): number {
  try {
    const outside = removeOutsideLogs(entry, runsDir);
    const freed = { bytes: 0 };
    removeTree(entry, freed);
    return outside + freed.bytes;
  } catch (error) {
    throw errorCode(error) === null ? error : storageError('remove', entry, error);
  }
}

const attempts = 20;

type Freed = { bytes: number };

/**
 * Removes a file, or a directory with its content, and counts the disk space that it took; links are not followed. Another
 * process may be removing it, too.
 */
function removeTree(path: string, freed: Freed): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  try {
    if (stats.isDirectory()) removeDirectory(path, freed);
    else unlinkSync(path);
    freed.bytes += diskSpace(stats);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/**
 * A process that opened a file in the directory before it was moved may add files: so an emptied directory may not
 * stay empty.
 */
function removeDirectory(directory: string, freed: Freed): void {
  for (let attempt = 1; ; attempt++) {
    try {
      for (const name of readdirSync(directory)) removeTree(join(directory, name), freed);
      rmdirSync(directory);
      return;
    } catch (error) {
      if (errorCode(error) !== 'ENOTEMPTY' || attempt === attempts) throw error;
    }
  }
}

function namesIn(trash: string): readonly string[] {
  try {
    requireDirectory(trash);
    return readdirSync(trash);
  } catch {
    return [];
  }
}

/** A link in place of a directory could lead anywhere. */
function requireDirectory(path: string): void {
  if (!lstatSync(path).isDirectory()) throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
}

/**
 * Withdraws a named run that could not be flushed: its request was refused, so it must never start. This process must
 * own it, which prevents others from carrying it meanwhile. Returns false if the disk refuses this too, and the run
 * still exists.
 */
export function takeBack(runsDir: string, runId: string): boolean {
  const directory = join(runsDir, runId);
  try {
    discardRun(runsDir, runId);
  } catch {
    // One rename removes it from the history; the rest in the trash is removed with the next run.
    if (isThere(directory)) return false;
  }
  try {
    // Otherwise the run could reappear after a crash of the machine.
    flushDirectory(dirname(directory));
  } catch {
    // The disk has refused a flush before: nothing more can be done.
  }
  return true;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
