import { lstatSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushDirectory } from '#system/durable-file.ts';
import { WfError } from '#system/errors.ts';
import { errorCode, makePrivateDirectory, storageError } from '../disk/private-files.ts';
import { removeOutsideLogs } from '../logs/outside-logs.ts';
import { removeTree } from './remove-tree.ts';

/*
 * A run is removed in two steps: a rename into `.trash`, after which no process sees it, and the removal of its files. After
 * a crash between the two, the run still has its snapshot, which contains the location of its logs; the next removal, or
 * `emptyTrash`, finishes it.
 */

/**
 * Moves a run out of the history, so that it is gone for every reader; returns its path in the trash, or null if it is gone
 * already. Throws a `WfError` `storage`.
 */
export function moveToTrash(runsDir: string, runId: string): string | null {
  const trash = join(runsDir, '.trash');
  const directory = join(runsDir, runId);
  const entry = join(trash, `${runId}~${process.pid}-${Math.random().toString(36).slice(2)}`);
  try {
    makeTrash(trash);
    requireDirectory(directory);
    renameSync(directory, entry);
    return entry;
  } catch (error) {
    // While this process became its owner, the previous one moved it.
    if (errorCode(error) === 'ENOENT' && !isThere(directory)) return null;
    throw storageError('remove', directory, error);
  }
}

/** Finishes interrupted removals; returns the freed bytes, and the problems of entries that stay. */
export async function emptyTrash(
  runsDir: string,
): Promise<{ readonly bytes: number; readonly problems: readonly string[] }> {
  const trash = join(runsDir, '.trash');
  const problems: string[] = [];
  let bytes = 0;
  for (const name of namesIn(trash)) {
    try {
      bytes += await removeFromTrash(runsDir, join(trash, name));
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      problems.push(error.message);
    }
  }
  return { bytes, problems };
}

/**
 * Removes a run in the trash with its logs; resolves to the freed bytes. The logs outside go first: without the entry,
 * nothing would point to them. Another process may be removing it, too. Rejects with a `WfError` `storage`.
 */
export async function removeFromTrash(runsDir: string, entry: string): Promise<number> {
  try {
    return removeOutsideLogs(entry, runsDir) + (await removeTree(entry));
  } catch (error) {
    throw errorCode(error) === null ? error : storageError('remove', entry, error);
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

function makeTrash(trash: string): void {
  if (lstatSync(trash, { throwIfNoEntry: false }) === undefined) makePrivateDirectory(trash);
  requireDirectory(trash);
}

/** A link in place of a directory could lead anywhere. */
function requireDirectory(path: string): void {
  if (!lstatSync(path).isDirectory()) throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
}

/**
 * Withdraws a named run that could not be flushed: its request was refused, so it must never start. This process must
 * own it, which prevents others from carrying it meanwhile. Resolves to false if the disk refuses this too, and the run
 * still exists.
 */
export async function takeBack(runsDir: string, runId: string): Promise<boolean> {
  const directory = join(runsDir, runId);
  try {
    const entry = moveToTrash(runsDir, runId);
    if (entry !== null) await removeFromTrash(runsDir, entry);
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
