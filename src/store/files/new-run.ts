import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ProcessIdentity, ProcessOwner, RunEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { errorCode, messageOf, tryOr, WfError } from '#system/errors.ts';
import { closing, removeDirectory, removeFile } from '#system/files.ts';
import type { RunQueue, Snapshot } from '../store.ts';
import { type Ownership, type Processes, releaseOwner, writeFirstOwner } from './control/owner.ts';
import {
  keepOwnerBits,
  makePrivateDirectory,
  openPrivate,
  readSealed,
  sealedLine,
  storing,
} from './disk/private-files.ts';
import { createSync, type JournalCalls, JournalFile, type JournalPosition } from './journal/journal-file.ts';
import { takeBack } from './removal/run-removal.ts';
import {
  isRunId,
  journalPath,
  launchPath,
  logsPath,
  scratchPath,
  snapshotPath,
  sourcesPath,
  writeSnapshot,
} from './run-directory.ts';

type NewRunRequest = {
  readonly directory: string;
  readonly snapshot: Snapshot;
  /** The absolute directory of the logs; null for the run's own. */
  readonly logs: string | null;
  readonly owner: ProcessOwner;
  /** The content of a waiting run, which is part of the run from the start. */
  readonly waiting: WaitingContent | null;
  readonly calls: JournalCalls;
  readonly isAlive: Processes['isAlive'];
};

/** The first events of a run, and the launch data for its carrier. `createdAt`: the time of the run; default: now. */
export type WaitingContent = {
  readonly events: readonly RunEvent[];
  readonly launch: string;
  readonly createdAt?: number;
};

/** A run with a new owner. */
export type OwnedRun = {
  readonly position: JournalPosition;
  readonly ownership: Ownership;
  readonly unsynced: readonly string[];
};

/**
 * Creates a run's directory with all its files, or nothing. It is assembled under a hidden name and then renamed; if
 * several processes create the same run, the rename succeeds for one. Nothing is flushed here: the first flush covers
 * all of it at once.
 */
export function createRun(request: NewRunRequest): OwnedRun {
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
      const { createdAt } = waiting;
      if (createdAt !== undefined) utimesSync(snapshotPath(staging.directory), createdAt / 1000, createdAt / 1000);
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

/** Minimum age of leftovers of dead processes, and of processes that cannot be checked from here. */
const YOUNGEST_LEFTOVER_MS = 10_000;
const YOUNGEST_UNKNOWN_MS = 3_600_000;

/**
 * Opens a hidden directory in which a run is assembled before it gets its name, and removes those of dead processes. Its own
 * name identifies the process, which may die before it has written anything. `made`: the directories that were created for
 * it, outermost first.
 */
function openStaging(runsDir: string, maker: ProcessIdentity, isAlive: Processes['isAlive']) {
  const parent = join(runsDir, '.new');
  const made = prepareParent(parent, isAlive);
  const { pid, startTime, boot, namespace } = maker;
  const directory = mkdtempSync(join(parent, `${pid}_${startTime ?? ''}_${boot ?? ''}_${namespace ?? ''}_`));
  keepOwnerBits(directory);
  return { directory, made };
}

function prepareParent(parent: string, isAlive: Processes['isAlive']): readonly string[] {
  try {
    for (const name of readdirSync(parent)) removeLeftover(join(parent, name), name, isAlive);
    return [];
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return makePrivateDirectory(parent);
  }
}

function removeLeftover(path: string, name: string, isAlive: Processes['isAlive']): void {
  const maker = makerOf(name);
  if (maker === null) return;
  const made = statSync(path, { throwIfNoEntry: false });
  if (made === undefined || Date.now() - made.mtimeMs < YOUNGEST_LEFTOVER_MS) return;
  if (isAlive(maker) && Date.now() - made.mtimeMs < YOUNGEST_UNKNOWN_MS) return;
  // One of another user stays, and is no reason to refuse a run.
  removeDirectory(path);
}

function makerOf(name: string): ProcessIdentity | null {
  const match = /^(\d+)_(\d*)_([^_]*)_(?:([^_]*)_)?/.exec(name);
  if (match === null) return null;
  const [, pid, startTime, boot, namespace] = match;
  const numbers = { pid: Number(pid), startTime: startTime ? Number(startTime) : null };
  return { ...numbers, boot: boot || null, namespace: namespace || null };
}

function writeLaunch(directory: string, launch: string): void {
  makePrivateDirectory(scratchPath(directory));
  closing(openPrivate(launchPath(directory), 'wx'), (fd) => {
    writeFileSync(fd, sealedLine(launch));
    fsyncSync(fd);
  });
}

/** Null if it is missing or damaged. */
function readLaunch(directory: string): string | null {
  const launch = tryOr(null, () => readSealed(launchPath(directory)));
  return typeof launch === 'string' ? launch : null;
}

/** A run whose journal this process may write. */
export type OpenRun = OwnedRun & {
  readonly runId: string;
  readonly directory: string;
  readonly workflow: Workflow;
  readonly logs: string | null;
  readonly calls: JournalCalls;
  /** The size of the cache of results. */
  readonly cacheBytes: () => number;
};

/** The waiting runs in a directory. `make` creates a run with this process as its owner. */
export function createRunQueue(
  runsDir: string,
  make: (snapshot: Snapshot, logDir: string | null, waiting: WaitingContent) => OpenRun,
): RunQueue {
  return {
    accept: async ({ snapshot, logDir, events, launch }) => {
      const { position, calls, ownership, unsynced, runId } = make(snapshot, logDir, { events, launch });
      const file = new JournalFile(position, calls);
      const release = () => storing('release', ownership.path, () => releaseOwner(ownership));
      try {
        await createSync(file, unsynced, calls)(false).done;
      } catch (error) {
        // Closing a file may provide the descriptor that the removal needs.
        file.close();
        const isTakenBack = await takeBack(runsDir, runId);
        release();
        throw isTakenBack ? error : stillQueued(runId, error);
      }
      file.close();
      release();
    },
    readLaunch: (runId) => (isRunId(runId) ? readLaunch(join(runsDir, runId)) : null),
    removeLaunch: (runId) => {
      const directory = join(runsDir, runId);
      storing('remove the launch file in', directory, () => removeFile(launchPath(directory)));
    },
  };
}

/** The run is neither stored reliably nor withdrawn: a repeated request must use its id. */
function stillQueued(runId: string, cause: unknown): WfError {
  const why = messageOf(cause);
  return new WfError('storage', `run ${runId} is queued, but a crash of the machine may lose it: ${why}`, {
    help: `check it by its id: wf status ${runId}`,
    cause,
  });
}
