import {
  close,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlink,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessOwner } from '#core/run/run.ts';
import { flushDirectory } from '#system/durable-file.ts';
import { errorCode, failedAs, isMissing, tryOr, WfError } from '#system/errors.ts';
import type { RemovedPart, RunRemoval } from '../../store.ts';
import { artifactsPath } from '../artifacts/artifact-files.ts';
import { type Ownership, type Processes, releaseOwner, takeOver, thisOwner } from '../control/owner.ts';
import { makePrivateDirectory, openPrivate, storageError, storingLater } from '../disk/private-files.ts';
import { isRunId } from '../run-directory.ts';
import {
  asDirectory,
  diskSpace,
  diskUsage,
  outsideArtifactsUsage,
  outsideLogsUsage,
  removeOutsideArtifacts,
  removeOutsideLogs,
} from './outside-logs.ts';

/** The removal of runs from the directory that contains them. */
export function createRunRemoval({ runsDir, ...processes }: Processes & { readonly runsDir: string }): RunRemoval {
  const { isAlive } = processes;
  let owner: ProcessOwner | null = null;
  return {
    /*
     * A run is owned first, as for a recovery: so no two processes remove it (if they try at the very same moment, all may
     * give way until the next time), and none removes another run that has got its id meanwhile.
     */
    remove: async (runId, mayGo, { isChecked = false, part = 'run' } = {}) => {
      // Checked before as well: a waiting run must never be owned, even briefly, by a process that does not carry it.
      if (!isRunId(runId) || (!isChecked && !mayGo())) return null;
      owner ??= thisOwner(processes);
      const ownership = own(join(runsDir, runId), owner, isAlive);
      if (ownership === null) return null;
      let entry: string | null = null;
      let outside = 0;
      try {
        if (mayGo()) {
          outside = part === 'artifacts' ? removeOutsideArtifacts(join(runsDir, runId)) : 0;
          entry = moveToTrash(runsDir, runId, part);
        }
      } finally {
        // An open file would keep the directory in the trash from being removed completely.
        releaseOwner(ownership);
      }
      if (entry === null) return outside === 0 ? null : outside;
      return outside + (await removeFromTrash(runsDir, entry));
    },
    sizeOf: (runId, part = 'run') => {
      const directory = join(runsDir, runId);
      if (!isRunId(runId)) return 0;
      return part === 'artifacts'
        ? diskUsage(artifactsPath(directory)) + outsideArtifactsUsage(directory)
        : diskUsage(directory) + outsideLogsUsage(directory);
    },
    finishRemovals: () => emptyTrash(runsDir),
    claimTidying: (now, everyMs) => claimTidying(runsDir, now, everyMs),
  };
}

function own(directory: string, owner: ProcessOwner, isAlive: Processes['isAlive']): Ownership | null {
  try {
    return lstatSync(directory).isDirectory() ? takeOver(directory, owner, isAlive) : null;
  } catch (error) {
    if (failedAs(error, 'run-active') || isMissing(error)) return null;
    throw errorCode(error) === '' ? error : storageError('remove', directory, error);
  }
}

/** Whether the runs were not tidied for `everyMs`; they count as tidied now. Never throws. */
function claimTidying(runsDir: string, now: number, everyMs: number): boolean {
  const path = join(runsDir, '.tidied');
  return tryOr(false, () => {
    const before = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (before === undefined) closeSync(openPrivate(path, 'a'));
    // A time in the future was set by a wrong clock.
    if (before === undefined || Math.abs(now - before) < everyMs) return false;
    utimesSync(path, now / 1000, now / 1000);
    return true;
  });
}

/*
 * A run is removed in two steps: a rename into `.trash`, after which no process sees it, and the removal of its files. After
 * a crash between the two, the run still has its snapshot, which contains the location of its logs; the next removal, or
 * `emptyTrash`, finishes it.
 */

/** Moves a run, or its artifacts, away from every reader; returns the path in the trash, or null if it is gone already. */
function moveToTrash(runsDir: string, runId: string, part: RemovedPart = 'run'): string | null {
  const trash = join(runsDir, '.trash');
  const directory = part === 'artifacts' ? artifactsPath(join(runsDir, runId)) : join(runsDir, runId);
  const entry = join(trash, `${runId}~${process.pid}-${Math.random().toString(36).slice(2)}`);
  try {
    if (!isThere(trash)) makePrivateDirectory(trash);
    requireDirectory(trash);
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
async function emptyTrash(runsDir: string): Promise<{ readonly bytes: number; readonly problems: readonly string[] }> {
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

/** Removes a run in the trash, the logs outside first, since nothing else points to them. */
function removeFromTrash(runsDir: string, entry: string): Promise<number> {
  return storingLater('remove', entry, async () => removeOutsideLogs(entry, runsDir) + (await removeTree(entry)));
}

function namesIn(trash: string): readonly string[] {
  return tryOr([], () => {
    requireDirectory(trash);
    return readdirSync(trash);
  });
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
  // Otherwise the run could reappear after a crash of the machine. The disk has refused a flush before and may do so again.
  tryOr(null, () => flushDirectory(dirname(directory)));
  return true;
}

function isThere(path: string): boolean {
  return tryOr(true, () => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

/** The maximum number of entries of a directory that are removed at once. */
const MOST_AT_ONCE = 64;
const ATTEMPTS = 20;

/**
 * Removes a file, or a directory with its content; resolves to the disk space that it took, in bytes. Links are not
 * followed. Another process may be removing it, too.
 *
 * A file system may take long to free space, up to one request to the disk for each file: so only the calls that free
 * space are asynchronous, and several wait at once. All others take less time than passing them to another thread.
 */
async function removeTree(path: string): Promise<number> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  try {
    if (stats.isDirectory()) return diskSpace(stats) + (await removeDirectory(path));
    if (stats.blocks === 0) unlinkSync(path);
    else await promisify(unlink)(path);
    return diskSpace(stats);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** An open directory is freed when it is closed, instead of while its parent is locked for everyone. */
async function removeDirectory(directory: string): Promise<number> {
  const fd = openSync(directory, asDirectory);
  try {
    return await emptyAndRemove(directory);
  } finally {
    await promisify(close)(fd);
  }
}

/** A process with a file open in the directory may add others: so an emptied directory may not stay empty. */
async function emptyAndRemove(directory: string): Promise<number> {
  let bytes = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      bytes += await removeContent(directory);
      rmdirSync(directory);
      return bytes;
    } catch (error) {
      if (errorCode(error) !== 'ENOTEMPTY' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Throws the first error after all removals have ended. */
async function removeContent(directory: string): Promise<number> {
  const names = readdirSync(directory);
  let bytes = 0;
  for (let at = 0; at < names.length; at += MOST_AT_ONCE) {
    const removals = names.slice(at, at + MOST_AT_ONCE).map((name) => removeTree(join(directory, name)));
    for (const result of await Promise.allSettled(removals)) {
      if (result.status === 'rejected') throw result.reason;
      bytes += result.value;
    }
  }
  return bytes;
}
