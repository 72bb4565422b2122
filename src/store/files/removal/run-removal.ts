import { closeSync, lstatSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '#core/run/run.ts';
import { WfError } from '#system/errors.ts';
import type { RunRemoval } from '../../store.ts';
import { type Ownership, type Processes, releaseOwner, takeOver, thisOwner } from '../control/owner.ts';
import { errorCode, openPrivate, storageError } from '../disk/private-files.ts';
import { outsideLogsUsage } from '../logs/outside-logs.ts';
import { isRunId } from '../run-directory.ts';
import { diskUsage } from './disk-usage.ts';
import { emptyTrash, moveToTrash, removeFromTrash } from './trash.ts';

/** The removal of runs from the directory that contains them. */
export function createRunRemoval({ runsDir, ...processes }: Processes & { readonly runsDir: string }): RunRemoval {
  const { isAlive } = processes;
  let owner: Owner | null = null;
  return {
    remove: async (runId, mayGo, { isChecked } = { isChecked: false }) => {
      if (!isRunId(runId)) return null;
      owner ??= thisOwner(processes);
      return removeRun({ runsDir, runId, owner, isAlive, mayGo, isChecked });
    },
    sizeOf: (runId) => (isRunId(runId) ? removableBytes(join(runsDir, runId)) : 0),
    finishRemovals: () => emptyTrash(runsDir),
    claimTidying: (now, everyMs) => claimTidying(runsDir, now, everyMs),
  };
}

type RemovalRequest = {
  readonly runsDir: string;
  readonly runId: string;
  readonly owner: Owner;
  readonly isAlive: Processes['isAlive'];
  readonly mayGo: () => boolean;
  readonly isChecked: boolean;
};

/** Removes a run with its logs; resolves to the freed bytes, or to null if the run is gone, must stay, or has an owner. */
async function removeRun(request: RemovalRequest): Promise<number | null> {
  const entry = discardRun(request);
  return entry === null ? null : removeFromTrash(request.runsDir, entry);
}

/**
 * Moves a run to the trash; returns its path there, or null. It is owned first, as for a recovery: so no two processes remove it
 * (if they try at the very same moment, all may give way until the next time), and none removes another run that has got
 * its id meanwhile. Throws a `WfError` `storage`.
 */
function discardRun({ runsDir, runId, owner, isAlive, mayGo, isChecked }: RemovalRequest): string | null {
  // Checked before as well: a waiting run must never be owned, even briefly, by a process that does not carry it.
  if (!isChecked && !mayGo()) return null;
  const ownership = own(join(runsDir, runId), owner, isAlive);
  if (ownership === null) return null;
  try {
    return mayGo() ? moveToTrash(runsDir, runId) : null;
  } finally {
    // An open file would keep the directory in the trash from being removed completely.
    releaseOwner(ownership);
  }
}

/** The bytes that removing a run would free. */
function removableBytes(directory: string): number {
  return diskUsage(directory) + outsideLogsUsage(directory);
}

function own(directory: string, owner: Owner, isAlive: Processes['isAlive']): Ownership | null {
  try {
    if (!lstatSync(directory).isDirectory()) return null;
    return takeOver(directory, owner, isAlive);
  } catch (error) {
    if (error instanceof WfError && error.code === 'run-active') return null;
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw errorCode(error) === null ? error : storageError('remove', directory, error);
  }
}

/**
 * Whether the runs in a directory were not tidied for `everyMs`; if so, they count as tidied now. Two simultaneous
 * callers may both get true. For a new directory the answer is false at first. Never throws: the next call tries
 * again.
 */
function claimTidying(runsDir: string, now: number, everyMs: number): boolean {
  const path = join(runsDir, '.tidied');
  try {
    const before = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (before === undefined) closeSync(openPrivate(path, 'a'));
    // A time in the future was set by a wrong clock.
    if (before === undefined || Math.abs(now - before) < everyMs) return false;
    utimesSync(path, now / 1000, now / 1000);
    return true;
  } catch {
    return false;
  }
}
