import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FinishedStatus, RunEvent } from '#core/run/run.ts';
import { durationOf } from '#core/summary/summarize.ts';
import { systemProblem } from '#system/errors.ts';
import { removeDirectory } from '#system/files.ts';
import type { Flush, RunJournal } from '../../store.ts';
import { artifactsPath, createArtifacts } from '../artifacts/artifact-files.ts';
import { releaseOwner } from '../control/owner.ts';
import { createRequestListener } from '../control/run-requests.ts';
import { makePrivateDirectory, storing } from '../disk/private-files.ts';
import { addStatus } from '../listing/status-file.ts';
import { createRunLogs } from '../logs/run-logs.ts';
import type { OpenRun } from '../new-run.ts';
import { journalPath, logsPath, scratchPath } from '../run-directory.ts';
import { createSync, JournalFile } from './journal-file.ts';

/** How often the owner checks that its files still exist: a run without them cannot be found or stopped by any command. */
const REMOVAL_POLL_MS = 5000;

/** The owner's hold on a run in files. */
export function createRunJournal(run: OpenRun): RunJournal {
  const { runId, directory, ownership, unsynced, calls } = run;
  const file = new JournalFile(run.position, calls);
  const commit = createGroupCommit(createSync(file, unsynced, calls));
  const scratch = scratchPath(directory);
  const makeScratch = () => {
    if (!existsSync(scratch)) storing('create', scratch, () => makePrivateDirectory(scratch));
    return scratch;
  };
  const requests = createRequestListener(directory, ownership.path);
  let closing: Promise<string | null> | null = null;
  let ending: Ending = { startedAt: null, end: null };
  let looks: NodeJS.Timeout | undefined;
  /** Completes all steps even if one fails, and then throws the last failure. */
  const release = async (tidyUp: () => string | null): Promise<string | null> => {
    let left: string | null = null;
    try {
      await commit.flush();
    } finally {
      try {
        left = tidyUp();
        file.close();
        storing('release', ownership.path, () => releaseOwner(ownership));
      } finally {
        clearInterval(looks);
        // Last, so that processes that wait for the end of the run find it complete.
        stopListening(requests.close);
      }
    }
    return left;
  };
  return {
    runId,
    path: journalPath(directory),
    append: (events) => {
      const stored = file.append(events);
      ending = endingAfter(events, ending);
      const last = stored.at(-1);
      if (last !== undefined) commit.mark(last.seq);
      return stored;
    },
    flush: commit.flush,
    queueFlush: commit.queue,
    logs: createRunLogs(logsPath(directory, run.logs), run.workflow),
    artifacts: createArtifacts(artifactsPath(directory), makeScratch, dirname(directory)),
    ...checksOf(run, dirname(directory)),
    scratch: makeScratch,
    listen: (listener) => {
      const look = () => {
        const removal = file.findRemoval();
        if (removal === null) return;
        clearInterval(looks);
        listener.gone(removal);
      };
      if (closing === null) looks = setInterval(look, REMOVAL_POLL_MS).unref();
      return requests.listen(listener);
    },
    close: () => {
      closing ??= release(() => {
        // Checked first, since `rmSync` loads a module of its own even if there is nothing to remove.
        const left = existsSync(scratch) ? removeDirectory(scratch) : null;
        if (ending.end !== null) addStatus(directory, runId, { ...ending.end, fd: file.fd });
        return left;
      });
      return closing;
    },
    handBack: async () => {
      // The scratch directory stays: it contains the launch data of the run.
      closing ??= release(() => null);
      await closing;
    },
  };
}

/** The fingerprints and the cache are loaded with the first step that needs them. */
function checksOf(
  { workflow: { file }, cacheBytes }: OpenRun,
  runsDir: string,
): Pick<RunJournal, 'fingerprints' | 'results'> {
  if (file === null) return {};
  return {
    fingerprints: async () => {
      const { createFingerprints, fingerprintsPath } = await import('../fingerprints/fingerprint-files.ts');
      return createFingerprints(fingerprintsPath(runsDir), file);
    },
    results: async () => {
      const { createResultCache, cachePath } = await import('../fingerprints/result-cache.ts');
      return createResultCache(cachePath(runsDir), file, cacheBytes());
    },
  };
}

/** A socket that cannot be removed is removed by the next listener. */
function stopListening(close: () => void): void {
  try {
    close();
  } catch (error) {
    if (systemProblem(error) === null) throw error;
  }
}

type Ending = {
  readonly startedAt: number | null;
  /** Null while it is not known from the events alone. */
  readonly end: { readonly status: FinishedStatus; readonly durationMs: number | null } | null;
};

/** The end of the run after these events. */
function endingAfter(events: readonly RunEvent[], { startedAt, end }: Ending): Ending {
  for (const event of events) {
    if (event.type === 'run.started') startedAt = event.at;
    if (event.type === 'run.warned' && startedAt !== null && end === null) startedAt += event.clockSetMs ?? 0;
    if (event.type === 'run.finished') {
      end = { status: event.status, durationMs: durationOf({ startedAt, finishedAt: event.at }) };
    } else if (event.type !== 'run.warned') end = null;
  }
  return { startedAt, end };
}

/**
 * Shares the flushes of one file, to which numbered entries are appended, among all callers. `mark`: everything up to this
 * number was written. `flush` resolves when everything up to a number, or else marked before the call, is on disk; for
 * `queue`, the starter of programs may flush.
 *
 * At most one `sync` runs at a time; callers that arrive meanwhile share the next one, or the running one if it covers
 * their entries. There is something to flush from the start. A failed flush is never retried: the system may have
 * dropped what it could not write, so a later success would prove nothing.
 */
export function createGroupCommit(sync: (mayQueue: boolean) => Flush) {
  let written = 0;
  /** The number that the last started sync covers, and the number known to be on disk; -1 before the first. */
  let covered = -1;
  let durable = -1;
  let current: Flush | null = null;
  let next: Promise<void> | null = null;

  const start = (mayQueue: boolean): Flush => {
    const upTo = written;
    covered = upTo;
    next = null;
    const { done, queued } = sync(mayQueue);
    const noted = done.then(() => {
      durable = upTo;
      current = null;
    });
    current = { done: noted, queued };
    return current;
  };

  const request = (number: number, mayQueue: boolean): Flush => {
    if (number <= durable) return { done: Promise.resolve(), queued: null };
    if (current === null) return start(mayQueue);
    if (number <= covered) return current;
    next ??= current.done.then(() => start(false).done);
    return { done: next, queued: null };
  };

  return {
    mark: (number: number): void => {
      written = number;
    },
    flush: (number = written): Promise<void> => request(number, false).done,
    queue: (number: number): Flush => request(number, true),
  };
}
