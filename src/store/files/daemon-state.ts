import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { closing, removeFile } from '#system/files.ts';
import type { DaemonState, RunNotes, Suspensions } from '../store.ts';
import { claimDaemon, findOwnDaemon, keepDaemonToken } from './control/daemon-claim.ts';
import { claimOwn, judgeOwner } from './control/judge-owner.ts';
import type { Processes } from './control/owner.ts';
import { createTrialWrite, readDiskSpace } from './disk/disk-space.ts';
import { durableText, runIdsIn, sessionFile } from './disk/durable-text.ts';
import { ifThere, makePrivateDirectory, openPrivate, readIfThere, storing } from './disk/private-files.ts';
import { directoryStamp } from './run-directory.ts';

/** The state of a daemon in files beside the directory of its runs. */
export function createDaemonState(runsDir: string, processes: Processes): DaemonState {
  const home = dirname(runsDir);
  const directory = join(home, 'daemon');
  return {
    claim: async () => {
      await judgeOwner(directory, processes);
      const { listen, ...claim } = claimDaemon(directory, processes);
      await listen();
      return claim;
    },
    claimStart: (workflow) => claimOwn(join(home, 'starts', hashOf(workflow).slice(0, 16)), processes),
    findOwn: (address, isAlive) => findOwnDaemon(directory, address, isAlive),
    keepToken: () => keepDaemonToken(directory),
    sessions: sessionFile(directory),
    suspensions: createSuspensions(join(home, 'suspended')),
    schedule: durableText(join(home, 'schedule.json')),
    watched: runIdsIn(join(directory, 'watched.json')),
    retries: runIdsIn(join(directory, 'retries.json')),
    engine: durableText(join(directory, 'engine.json')),
    backfills: durableText(join(directory, 'backfills.json')),
    forwarding: createRunNotes(join(directory, 'forwarding')),
    space: () => readDiskSpace(runsDir),
    refusal: createTrialWrite(directory, Date.now),
  };
}

/** Loads the module for it: if nothing was ever suspended, a look-up needs no hash. */
function hashOf(text: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex');
}

const SUFFIX = '.json';

/** Notes in files of a directory, which is created on the first write. Each note is written atomically. */
function createRunNotes(directory: string): RunNotes {
  const pathOf = (runId: string) => join(directory, `${runId}${SUFFIX}`);
  return {
    // Not flushed: after a crash of the machine, the process it describes is gone.
    write: (runId, text) =>
      storing('write', pathOf(runId), () => {
        makePrivateDirectory(directory);
        const draft = draftOf(pathOf(runId));
        closing(openPrivate(draft, 'w'), (fd) => writeFileSync(fd, text));
        renameSync(draft, pathOf(runId));
      }),
    all: () => {
      const names = ifThere(() => readdirSync(directory))?.filter((name) => name.endsWith(SUFFIX)) ?? [];
      return names.flatMap((name) => {
        const runId = name.slice(0, -SUFFIX.length);
        const text = readIfThere(pathOf(runId));
        return text === null ? [] : [{ runId, text }];
      });
    },
    remove: (runId) => {
      removeFile(pathOf(runId));
      removeFile(draftOf(pathOf(runId)));
    },
  };
}

function draftOf(path: string): string {
  return `${path}.draft`;
}

/**
 * One file per suspended workflow, in a directory that is created with the first, so that processes need no agreement on who
 * writes, and no reader sees half a list. The name is a hash, since a path may be longer than a name; the file contains the
 * path, and in a second line the end, if there is one.
 */
export function createSuspensions(directory: string, now: () => number = Date.now): Suspensions {
  const markOf = (file: string) => join(directory, hashOf(file));
  const endOf = (file: string) => (existsSync(directory) ? readEnd(markOf(file)) : null);
  const set = (file: string, until: number | null) => {
    const path = markOf(file);
    if (until === null) storing('remove', path, () => removeFile(path));
    else durableText(path).write(Number.isFinite(until) ? `${file}\n${new Date(until).toISOString()}\n` : `${file}\n`);
  };
  return {
    endOf,
    suspendedUntil: (file) => {
      const end = endOf(file);
      return end === null || end <= now() ? null : end;
    },
    set,
    move: (from, to) => {
      const end = endOf(from);
      if (end === null) return;
      set(to, end);
      set(from, null);
    },
    stamp: createStamp(directory, now),
  };
}

/** Null without a suspension, which another process may just have removed. Without an end that can be read, it has none. */
function readEnd(path: string): number | null {
  const text = storing('read', path, () => readIfThere(path));
  if (text === null) return null;
  const [, end] = /\n([\d:.TZ-]+)\n$/.exec(text) ?? [];
  const at = Date.parse(end ?? '');
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
}

/** Never the same twice while a further change could leave the time of the directory unchanged. */
function createStamp(directory: string, now: () => number): () => string {
  let readAt: string | null = null;
  let ends: readonly number[] = [];
  return () => {
    const stamp = directoryStamp(directory);
    if (stamp !== readAt && stamp !== null) {
      const marks = storing('read', directory, () => readdirSync(directory));
      ends = marks.flatMap((name) => readEnd(join(directory, name)) ?? []);
    }
    readAt = stamp;
    const time = now();
    return `${stamp} ${ends.filter((end) => end <= time).length}`;
  };
}
