import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WfError } from '../../../errors.ts';
import { errorCode, makePrivateDirectory, storageError } from '../disk/private-files.ts';
import { removeOutsideLogs } from '../logs/outside-logs.ts';
import { diskUsage } from './disk-usage.ts';

/*
 * A run is removed in two steps: one rename into `.trash`, with which it is gone for everybody, and the removal of what lies
 * there. What a crash leaves between the two still has its snapshot, which tells where its logs are; the next removal, or
 * `emptyTrash`, finishes it.
 */

/** Takes a run out of the history; answers how many bytes of disk that freed. Throws a `WfError` `storage`. */
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

/** Removes what removals that were cut short have left; answers how many bytes of disk that freed, and what stays. */
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

/** The logs outside first: without the entry nobody would know of them. Another process may be at it, too. */
function removeEntry(runsDir: string, entry: string): number {
  try {
    const outside = removeOutsideLogs(entry, runsDir);
    const bytes = diskUsage(entry);
    removeTree(entry);
    return outside + bytes;
  } catch (error) {
    throw errorCode(error) === null ? error : storageError('remove', entry, error);
  }
}

const attempts = 20;

/** Who opened a file in the directory just before it came here puts it here: so what has become empty may not stay empty. */
function removeTree(directory: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(directory, { recursive: true, force: true });
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

/** A link in the place of a directory could lead anywhere. */
function requireDirectory(path: string): void {
  if (!lstatSync(path).isDirectory()) throw Object.assign(new Error(`${path} is no directory`), { code: 'ENOTDIR' });
}
