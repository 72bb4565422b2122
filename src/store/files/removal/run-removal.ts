import { closeSync, lstatSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner } from '../../../core/run/run.ts';
import { WfError } from '../../../errors.ts';
import type { RunRemoval } from '../../store.ts';
import { type Ownership, type Processes, releaseOwner, takeOver, thisOwner } from '../control/owner.ts';
import { errorCode, openPrivate, storageError } from '../disk/private-files.ts';
import { outsideLogsUsage } from '../logs/outside-logs.ts';
import { isRunId } from '../run-id.ts';
import { diskUsage } from './disk-usage.ts';
import { discardRun, emptyTrash } from './trash.ts';

/** The removal of runs from the directory that holds them. */
export function createRunRemoval({ runsDir, ...processes }: Processes & { readonly runsDir: string }): RunRemoval {
  const { isAlive } = processes;
  return {
    remove: (runId, mayGo) =>
      isRunId(runId) ? removeRun({ runsDir, runId, owner: thisOwner(processes), isAlive, mayGo }) : null,
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
  /** Looks at the run again: nobody else can change it then. */
  readonly mayGo: () => boolean;
};

/**
 * Removes a run with its logs; answers how many bytes of disk that freed, or null where there is no such run any more, it may
 * not go, or somebody owns it. It is owned first, as if to be recovered: so no two processes remove it (at the very same moment
 * all may give way: then it goes at the next time), and none removes another run that has got its id meanwhile. Throws a `WfError` `storage`.
 */
function removeRun({ runsDir, runId, owner, isAlive, mayGo }: RemovalRequest): number | null {
  // Asked before as well: a run that waits must not be owned for a moment by somebody who does not carry it.
  if (!mayGo()) return null;
  const ownership = own(join(runsDir, runId), owner, isAlive);
  if (ownership === null) return null;
  try {
    return mayGo() ? discardRun(runsDir, runId) : null;
  } finally {
    // Of a run that is gone it closes the file.
    releaseOwner(ownership);
  }
}

/** What removing a run would free, in bytes of disk. */
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
 * Whether the runs in a directory have not been tidied for so long; then they count as tidied now. Two processes that ask at
 * once may both be told so. A directory that was never asked about has to wait once. Never throws: there is another time.
 */
function claimTidying(runsDir: string, now: number, everyMs: number): boolean {
  const path = join(runsDir, '.tidied');
  try {
    const before = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (before === undefined) closeSync(openPrivate(path, 'a'));
    // A time in the future was set by a clock that was wrong.
    if (before === undefined || Math.abs(now - before) < everyMs) return false;
    utimesSync(path, now / 1000, now / 1000);
    return true;
  } catch {
    return false;
  }
}
