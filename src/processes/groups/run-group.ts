import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { os } from '#fast/os.ts';
import { tryOr } from '#system/errors.ts';
import { closing } from '#system/files.ts';
import { identify, readSelf } from '../process-identity.ts';

/** The control group (cgroup v2) of this process and everything it starts. */
export type RunGroup = {
  /**
   * Leaves the group of a run that ends, and kills the rest of it, or moves it to the parent if anything is to be
   * spared.
   */
  readonly sweep: (runId: string, spares: boolean) => Promise<void>;
  /** Moves this process out of the group and removes the group if empty. False if the system refuses. */
  readonly leave: () => boolean;
};

/** Name prefixes of groups. The leftovers of a dead run in a group of the second kind are not killed. */
export const groupKinds = { killed: 'wf-run', spared: 'wf-spare' } as const;

/**
 * Moves this process into a new group below its own. Null if it may not create, enter or kill groups (Linux before
 * 5.14). `spares`: some step leaves processes that must survive the run.
 */
export function enterRunGroup(runId: string, { spares }: { readonly spares: boolean }): RunGroup | null {
  const parent = ownGroup();
  const self = identify(process.pid);
  if (parent === null || self === null || self.startTime === null) return null;
  const kind = spares ? groupKinds.spared : groupKinds.killed;
  const group = join(parent, [kind, self.namespace ?? '0', self.pid, self.startTime].join('-'));
  // Without permission for the parent the process could not leave the group again.
  if (!isWritable(join(parent, 'cgroup.procs')) || tryOr(null, () => mkdirSync(group)) === null) return null;
  if (isWritable(join(group, 'cgroup.kill')) && moveTo(group)) return groupIn(runId, parent, group);
  remove(group);
  return null;
}

function isWritable(file: string): boolean {
  return tryOr(false, () => accessSync(file, constants.W_OK) === undefined);
}

function groupIn(runId: string, parent: string, group: string): RunGroup {
  let hasSpared = false;
  let isIn = true;
  const leave = () => {
    if (isIn && !moveTo(parent)) return false;
    isIn = false;
    remove(group);
    return true;
  };
  return {
    sweep: async (ended, sparesSome) => {
      hasSpared ||= sparesSome;
      if (ended !== runId || !leave() || !existsSync(group)) return;
      // Loaded on demand: most runs leave nothing in their groups.
      const { endGroup } = await import('./end-group.ts');
      await endGroup(group, hasSpared ? parent : null);
    },
    leave,
  };
}

/** The control group directory of this process; null without cgroup v2, or if it is not visible. */
export function ownGroup(): string | null {
  return tryOr(null, () => {
    const directories = groupDirectories(readFileSync(ownFiles.group, 'utf8'), readFileSync(ownFiles.mounts, 'utf8'));
    return directories.find((directory) => existsSync(join(directory, 'cgroup.procs'))) ?? null;
  });
}

/** The files of the kernel that `groupPlaces` needs. */
export const ownFiles = { group: '/proc/self/cgroup', mounts: '/proc/self/mountinfo' };

/** Returns the possible directories of the group of this process: one for each mounted cgroup v2. */
export function groupDirectories(group: string, mounts: string): readonly string[] {
  const path = /^0::(\/.*)$/m.exec(group)?.[1];
  if (path === undefined) return [];
  return mounts.split('\n').flatMap((mount) => {
    const [, , , root = '', at = '', ...rest] = mount.split(' ');
    return rest[rest.indexOf('-') + 1] === 'cgroup2' && root === '/' ? [join(at, path)] : [];
  });
}

/** Moves this process; false if the group is gone, or if that is not permitted. */
function moveTo(group: string): boolean {
  const file = join(group, 'cgroup.procs');
  return tryOr(0, () => closing(openSync(file, constants.O_WRONLY), (fd) => writeSync(fd, `${process.pid}`))) > 0;
}

/** A group that still has processes stays: `endDeadGroups` removes it later. */
function remove(group: string): void {
  tryOr(null, () => rmdirSync(group));
}

/** The highest number, of the lowest priority. */
const LOWEST = 19;

/** Lowers the priority of this thread and of what it starts from now on. Most users cannot raise it again. */
export function lowerPriority(by: number): void {
  const priority = Math.min(os().getPriority() + by, LOWEST);
  // Some sandboxes forbid the call.
  tryOr(null, () => os().setPriority(priority));
  const self = readSelf();
  if (self !== null && self.session === self.pid) lowerSession(priority);
}

/**
 * Where Linux shares the processors among sessions (autogroups), the priority of a process counts only within its
 * session: for a process with a session of its own not at all. Linux refuses users without special rights more than ten
 * changes a second.
 */
function lowerSession(priority: number): void {
  // Fails without autogroups, and for too many changes.
  tryOr(null, () => writeFileSync('/proc/self/autogroup', String(priority), { flag: 'r+' }));
}
