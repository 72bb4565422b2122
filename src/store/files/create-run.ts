import { closeSync, fstatSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Owner, RunEvent } from '#core/run/run.ts';
import { WfError } from '#system/errors.ts';
import { removeDirectory } from '#system/files.ts';
import type { Snapshot } from '../store.ts';
import { writeLaunch } from './control/launch-file.ts';
import { type Ownership, type Processes, writeFirstOwner } from './control/owner.ts';
import { errorCode, makePrivateDirectory, openPrivate } from './disk/private-files.ts';
import { openStaging } from './disk/staging.ts';
import type { JournalCalls } from './journal/journal-calls.ts';
import { JournalFile, type JournalPosition } from './journal/journal-file.ts';
import { journalPath, logsPath, scratchPath } from './run-directory.ts';
import { snapshotPath, sourcesPath, writeSnapshot } from './snapshot-file.ts';

export type NewRunRequest = {
  /** The run's directory, named after its id. */
  readonly directory: string;
  readonly snapshot: Snapshot;
  /** The absolute directory of the logs; null for the run's own. */
  readonly logs: string | null;
  readonly owner: Owner;
  /** The content of a waiting run, which is part of the run from the start. */
  readonly waiting: WaitingContent | null;
  readonly calls: JournalCalls;
  readonly isAlive: Processes['isAlive'];
};

/** The first events of a run, and the launch data for its carrier. */
export type WaitingContent = { readonly events: readonly RunEvent[]; readonly launch: string };

/** A run that was just created. */
export type NewRun = {
  readonly position: JournalPosition;
  readonly ownership: Ownership;
  /** Paths that must be flushed before the run certainly survives a crash. */
  readonly unsynced: readonly string[];
};

/**
 * Creates a run's directory with all its files, or nothing. It is assembled under a hidden name and then renamed; if
 * several processes create the same run, the rename succeeds for one. Nothing is flushed here: the first flush covers
 * all of it at once.
 */
export function createRun(request: NewRunRequest): NewRun {
  const { directory, snapshot, logs, owner, waiting, calls, isAlive } = request;
  const runsDir = dirname(directory);
  const staging = openStaging(runsDir, owner, isAlive);
  let journalFd: number | null = null;
  let ownership: Ownership | null = null;
  try {
    ownership = writeFirstOwner(staging.directory, owner);
    writeSnapshot(staging.directory, snapshot, logs);
    if (logs === null) makePrivateDirectory(logsPath(staging.directory, null));
    const path = journalPath(staging.directory);
    journalFd = openPrivate(path, 'ax');
    if (waiting !== null) {
      writeLaunch(staging.directory, waiting.launch);
      new JournalFile({ path, fd: journalFd, length: 0, seq: 0 }, calls).append(waiting.events);
    }
    const { size: length } = fstatSync(journalFd);
    giveName(staging.directory, directory);
    const unsynced = [
      snapshotPath(directory),
      sourcesPath(directory),
      ...(waiting === null ? [] : [scratchPath(directory)]),
      directory,
      runsDir,
      ...staging.made.map(dirname),
    ];
    return {
      position: { path: journalPath(directory), fd: journalFd, length, seq: waiting?.events.length ?? 0 },
      ownership: { ...ownership, path: join(directory, basename(ownership.path)) },
      unsynced: [...new Set(unsynced)],
    };
  } catch (error) {
    if (journalFd !== null) closeSync(journalFd);
    if (ownership !== null) closeSync(ownership.fd);
    removeDirectory(staging.directory);
    throw error;
  }
}

/** A directory can replace only an empty directory, and a run is never empty. */
function giveName(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
    const runId = basename(to);
    throw new WfError('run-exists', `a run "${runId}" exists already`, {
      help: `wf status ${runId} shows it; choose another id to start a run`,
    });
  }
}
