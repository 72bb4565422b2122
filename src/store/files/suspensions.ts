import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Suspensions } from '../store.ts';
import { errorCode, makePrivateDirectory, storing, writePrivate } from './disk/private-files.ts';

/** Resolution of file times: a second change within it may leave the time unchanged. */
const coarsestMs = 50;

/**
 * One file per suspended workflow, in a directory that is created with the first: only its existence counts, so that
 * processes need no agreement on who writes, and no reader sees half a list. The name is a hash, since a path may be
 * longer than a name; the file contains the path.
 */
export function createSuspensions(directory: string): Suspensions {
  const markOf = (file: string) => join(directory, nameOf(file));
  const isSuspended = (file: string) => existsSync(directory) && existsSync(markOf(file));
  const set = (file: string, suspended: boolean) => {
    storing(suspended ? 'write' : 'remove', markOf(file), () => {
      if (suspended) mark(directory, markOf(file), file);
      else rmSync(markOf(file), { force: true });
    });
  };
  return {
    isSuspended,
    set,
    move: (from, to) => {
      if (!isSuspended(from)) return;
      set(to, true);
      set(from, false);
    },
    stamp: () => stampOf(directory),
  };
}

/** Loaded here: if nothing was ever suspended, a look-up needs no hash. */
function nameOf(file: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(file).digest('hex');
}

function mark(directory: string, path: string, file: string): void {
  makePrivateDirectory(directory);
  try {
    writePrivate(path, `${file}\n`);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Never the same twice while a further change could leave the time unchanged. */
function stampOf(directory: string): string {
  const changedAt = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isFresh = Math.abs(Date.now() - changedAt) < coarsestMs;
  return isFresh ? `${changedAt}.${performance.now()}` : String(changedAt);
}
