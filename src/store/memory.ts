import { join } from 'node:path';
import type { StoredEvent } from '#core/run/run.ts';
import { WfError } from '#system/errors.ts';
import { removeDirectory } from '#system/files.ts';
import { createArtifacts } from './files/artifacts/artifact-files.ts';
import { makePrivateDirectory, makeTemporaryDirectory, storing } from './files/disk/private-files.ts';
import { createRunLogs } from './files/logs/run-logs.ts';
import { checkRunId } from './files/run-directory.ts';
import type { LogStore } from './logs.ts';
import type { RunJournal, RunStore, Snapshot } from './store.ts';

type MemoryRun = { readonly snapshot: Snapshot; readonly logs: LogStore; readonly events: StoredEvent[] };

/** Runs that are not stored (`--no-history`): events in memory, files in a private directory until `close`. */
export function createMemoryStore({ tempDir }: { readonly tempDir: () => string }): RunStore {
  const runs = new Map<string, MemoryRun>();
  const artifacts = { directory: '', open: () => null, exist: () => false };
  return {
    create: (snapshot) => {
      checkRunId(snapshot.runId);
      if (runs.has(snapshot.runId)) throw new WfError('run-exists', `a run "${snapshot.runId}" exists already`);
      const directory = makeTemporaryDirectory(tempDir());
      const logs = createRunLogs(join(directory, 'logs'), snapshot.workflow);
      const run = { snapshot, logs, events: [] };
      runs.set(snapshot.runId, run);
      return createMemoryJournal(run, directory);
    },
    read: (runId) => {
      const run = runs.get(runId);
      return run === undefined
        ? null
        : { ...run.snapshot, events: [...run.events], damage: [], logs: run.logs, artifacts };
    },
    list: () => [...runs.keys()].reverse(),
  };
}

function createMemoryJournal({ snapshot, logs, events }: MemoryRun, directory: string): RunJournal {
  let isOpen = true;
  const makeScratch = () => {
    const scratch = join(directory, 'scratch');
    storing('create', scratch, () => makePrivateDirectory(scratch));
    return scratch;
  };
  return {
    runId: snapshot.runId,
    path: null,
    append: (appended) => {
      if (!isOpen) throw new Error(`the journal of "${snapshot.runId}" is closed`);
      const stored = appended.map((event, index) => ({ seq: events.length + 1 + index, ...event }));
      events.push(...stored);
      return stored;
    },
    flush: () => Promise.resolve(),
    queueFlush: () => ({ done: Promise.resolve(), queued: null }),
    logs,
    artifacts: createArtifacts(join(directory, 'artifacts'), makeScratch, null),
    scratch: makeScratch,
    // No other process knows of the run.
    listen: () => Promise.resolve(),
    close: async () => {
      isOpen = false;
      return removeDirectory(directory);
    },
    handBack: async () => {
      isOpen = false;
    },
  };
}
