import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '../core/run/run.ts';
import { identify, isAlive } from './process-identity.ts';
import { processPlace } from './process-place.ts';

/** The control group (cgroup v2) in which a process and everything that it starts run. */
export type RunGroup = {
  /**
   * Once a run is to end: without `spares` and for the run that the group is for, takes this process out of the group and kills
   * everything that is left in it. If that run or one within it spares processes, what is left moves to the group above instead.
   */
  readonly sweep: (runId: string, spares: boolean) => Promise<void>;
  /** Takes this process out of the group, and removes the group if it is empty. False where the system refuses. */
  readonly leave: () => boolean;
};

/** What groups are called; what the process of a run that died has left in one of the second kind is not killed. */
const killed = 'wf-run';
const spared = 'wf-spare';

const lookAgainMs = 5;
/** What stays longer after SIGKILL waits for a device that does not answer. */
const longestWaitMs = 10_000;

/**
 * Moves this process into a group of its own below the one in which it is. Null where it may not make groups, move between them or
 * kill them at once (Linux before 5.14). `spares`: some step leaves processes that must survive the run.
 */
export function enterRunGroup(runId: string, { spares }: { readonly spares: boolean }): RunGroup | null {
  const parent = ownGroup();
  const self = identify(process.pid);
  if (parent === null || self === null || self.startTime === null) return null;
  const group = join(parent, nameOf(spares ? spared : killed, self));
  try {
    // Without this right the process could not leave the group again.
    accessSync(join(parent, 'cgroup.procs'), constants.W_OK);
    mkdirSync(group);
  } catch {
    return null;
  }
  try {
    accessSync(join(group, 'cgroup.kill'), constants.W_OK);
  } catch {
    remove(group);
    return null;
  }
  if (!move(process.pid, group)) {
    remove(group);
    return null;
  }
  return groupIn(runId, parent, group);
}

/**
 * Kills what is left in the groups of processes that have died, and removes these groups: those below the group of this process,
 * which are the ones that its runs were given.
 */
export async function endDeadGroups(): Promise<void> {
  const parent = ownGroup();
  if (parent === null) return;
  const dead = names(parent).filter((name) => isOfDead(name));
  await Promise.all(dead.map((name) => end(join(parent, name), name.startsWith(spared) ? parent : null)));
}

function groupIn(runId: string, parent: string, group: string): RunGroup {
  let hasSpared = false;
  let isIn = true;
  const leave = () => {
    if (isIn && !move(process.pid, parent)) return false;
    isIn = false;
    remove(group);
    return true;
  };
  return {
    sweep: async (ended, sparesSome) => {
      hasSpared ||= sparesSome;
      if (ended !== runId) return;
      if (leave()) await end(group, hasSpared ? parent : null);
    },
    leave,
  };
}

/** Kills what is left in a group, or moves it to another one, and removes the group. */
async function end(group: string, spareIn: string | null): Promise<void> {
  const deadline = performance.now() + longestWaitMs;
  while (isPopulated(group) && performance.now() < deadline) {
    if (spareIn === null && !write(join(group, 'cgroup.kill'), '1')) break;
    if (spareIn !== null) for (const pid of members(group)) move(pid, spareIn);
    if (isPopulated(group)) await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
  remove(group);
}

/** The directory of the control group of this process; null where there is no cgroup v2, or it cannot be seen from here. */
export function ownGroup(): string | null {
  try {
    const path = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    for (const mount of mounts) {
      const [, , , root = '', at = '', ...rest] = mount.split(' ');
      if (path === undefined || rest[rest.indexOf('-') + 1] !== 'cgroup2' || root !== '/') continue;
      const directory = join(at, path);
      if (existsSync(join(directory, 'cgroup.procs'))) return directory;
    }
    return null;
  } catch {
    return null;
  }
}

function nameOf(kind: string, { pid, startTime, namespace }: ProcessIdentity): string {
  return [kind, namespace ?? '0', pid, startTime].join('-');
}

/** Of this PID namespace: those of others cannot be judged from here. */
function isOfDead(name: string): boolean {
  const [, kind = '', namespace, pid, startTime] = /^(wf-run|wf-spare)-([\d.]+)-(\d+)-(\d+)$/.exec(name) ?? [];
  const place = processPlace();
  if (kind === '' || namespace !== (place.namespace ?? '0') || !place.hasOwnProc) return false;
  const { boot } = place;
  return !isAlive({ pid: Number(pid), startTime: Number(startTime), boot, namespace: place.namespace });
}

function names(parent: string): readonly string[] {
  try {
    return readdirSync(parent);
  } catch {
    return [];
  }
}

function move(pid: number, group: string): boolean {
  return write(join(group, 'cgroup.procs'), String(pid));
}

/** False for a file that is gone, a process that is, or where a right is missing. */
function write(path: string, text: string): boolean {
  try {
    // Not for reading too: `cgroup.kill` can only be written.
    const fd = openSync(path, constants.O_WRONLY);
    try {
      writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
    return true;
  } catch {
    return false;
  }
}

function members(group: string): readonly number[] {
  try {
    return readFileSync(join(group, 'cgroup.procs'), 'utf8')
      .trim()
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

function isPopulated(group: string): boolean {
  try {
    return /^populated 1$/m.test(readFileSync(join(group, 'cgroup.events'), 'utf8'));
  } catch {
    return false;
  }
}

/** One that still has processes stays. */
function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // `endDeadGroups` tries again.
  }
}
