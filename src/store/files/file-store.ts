import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { WfError } from '#system/errors.ts';
import type { RunArchive, RunControl, RunQueue, RunRemoval, RunStore, Snapshot } from '../store.ts';
import { judgeOwner } from './control/judge-owner.ts';
import { hasOwner, ownerOf, type Processes, thisOwner } from './control/owner.ts';
import { createRunControl } from './control/run-requests.ts';
import { namesIn, storing } from './disk/private-files.ts';
import { type JournalCalls, journalCalls } from './journal/journal-file.ts';
import { followEvents } from './journal/journal-follower.ts';
import { readCreated, readEvents } from './journal/journal-reader.ts';
import { createRunJournal } from './journal/run-journal.ts';
import { indexNewRun, knownRuns, readLabel } from './listing/known-runs.ts';
import { followRuns, listingOf, listNewRunIds, listRunIds } from './listing/run-listing.ts';
import { openStatuses } from './listing/status-file.ts';
import { createRun, createRunQueue, type OpenRun, type WaitingContent } from './new-run.ts';
import { readAgain, readRun, recoverRun } from './read-run.ts';
import { createRunRemoval } from './removal/run-removal.ts';
import {
  checkRunId,
  isRunId,
  journalStamp,
  launchPath,
  listStamp,
  outsideLogs,
  readSnapshot,
  scratchPath,
  timeOfRun,
} from './run-directory.ts';

export { createSharedArtifacts } from './artifacts/artifact-files.ts';

export type FileStoreOptions = Processes & {
  /** The absolute directory that contains one directory per run; created if missing. */
  readonly runsDir: string;
  readonly calls?: JournalCalls;
  /** The size of the cache of results, read for the first step that needs it; absent: nothing is cached. */
  readonly cacheBytes?: () => number;
};

/** Runs in files, for any number of processes at once. */
export type FileStore = RunStore & RunArchive & RunQueue & RunControl & RunRemoval;

/** The default store. `docs/decisions/0002` describes how it keeps its promises. */
export function createFileStore(options: FileStoreOptions): FileStore {
  const { runsDir, isAlive } = options;
  const { calls = journalCalls, cacheBytes = () => 0 } = options;
  const make = (snapshot: Snapshot, logDir: string | null, waiting: WaitingContent | null): OpenRun => {
    const { runId, workflow } = snapshot;
    checkRunId(runId);
    const directory = join(runsDir, runId);
    const logs = logDir === null ? null : outsideLogs(resolve(logDir), workflow.name, runId);
    const request = { directory, snapshot, logs, owner: thisOwner(options), waiting, calls, isAlive };
    const made = storing('create', directory, () => createRun(request));
    indexNewRun(runsDir, snapshot);
    return { ...made, runId, directory, workflow, logs, calls, cacheBytes };
  };
  return {
    ...createRunQueue(runsDir, make),
    ...createRunControl(runsDir),
    ...createRunRemoval(options),
    create: (snapshot, { logDir, launch, ...rest }) =>
      createRunJournal(make(snapshot, logDir, launch === undefined ? null : { events: [], launch, ...rest })),
    read: (runId) => (isRunId(runId) ? readRun(join(runsDir, runId), runId, { isAlive }) : null),
    readAgain: (runId, before) => (isRunId(runId) ? readAgain(join(runsDir, runId), runId, { before, isAlive }) : null),
    list: () => storing('list', runsDir, () => listingOf(runsDir, () => listRunIds(runsDir))),
    listNew: (isKnown) => storing('list', runsDir, () => listNewRunIds(runsDir, isKnown)),
    listStamp: () => listStamp(runsDir),
    timeOf: (runId) => timeOfRun(runsDir, runId) ?? 0,
    labels: (runIds) => {
      const known = knownRuns(runsDir, runIds);
      return (runId) => known.labels.get(runId) ?? null;
    },
    readLabel: (runId) => (isRunId(runId) ? readLabel(join(runsDir, runId)) : null),
    statuses: (runIds) => openStatuses(runsDir, runIds),
    readCreated: (runId) => readCreated(join(runsDir, runId)),
    stampOf: (runId) => (isRunId(runId) ? journalStamp(join(runsDir, runId)) : null),
    directoryOf: (runId) => join(runsDir, runId),
    readEvents: (runId) => readEvents(join(runsDir, runId)),
    followEvents: (runId, afterSeq, signal) => followEvents(join(runsDir, runId), afterSeq, signal),
    changes: (signal) => followRuns(runsDir, signal),
    mayGoOn: (runId) => isRunId(runId) && mayGoOn(join(runsDir, runId)),
    judgeOwner: (runId) => judgeOwner(join(runsDir, runId), options),
    declareGone: (runId) => {
      const owner = isRunId(runId) ? storing('read', runsDir, () => ownerOf(join(runsDir, runId))) : null;
      if (owner !== null) options.elsewhere?.declareGone(owner);
    },
    openForRecovery: (runId) => {
      const directory = join(runsDir, runId);
      const snapshot = isRunId(runId) ? readSnapshot(directory) : null;
      if (snapshot === null) throw new WfError('not-found', `there is no run "${runId}"`);
      const { workflow, logs } = snapshot;
      const recovered = storing('recover', directory, () => recoverRun(directory, thisOwner(options), isAlive));
      return createRunJournal({ ...recovered, runId, directory, workflow, logs, calls, cacheBytes });
    },
  };
}

/** Whether a run has an owner, alive or dead, or waits for one. Throws a `WfError` `storage`. */
function mayGoOn(directory: string): boolean {
  return storing('read', directory, () => {
    const names = namesIn(directory);
    if (!names.includes(basename(scratchPath(directory)))) return hasOwner(directory, names);
    // A waiting run has launch data and no owner; its carrier owns it before it removes the launch data.
    return existsSync(launchPath(directory)) || hasOwner(directory, namesIn(directory));
  });
}
