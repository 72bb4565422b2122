import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { someAtOnce } from '#system/turns.ts';
import { isAlive, processScope } from '../process-identity.ts';
import { endGroup } from './end-group.ts';
import { groupDirectories, groupKinds, ownFiles } from './run-group.ts';

/** Of the four threads of Node, the others remain for logs and flushes. */
const MOST_AT_ONCE = 2;

/**
 * Kills what dead processes left in the groups below that of this process, the groups of its runs, and removes them.
 *
 * Reads in other threads: the kernel locks the directory for each group that is created or removed, so that a read may
 * take seconds while many runs end.
 */
export async function endDeadGroups(): Promise<void> {
  const parent = await findOwnGroup();
  if (parent === null) return;
  const names = await readdir(parent).catch(() => []);
  const dead = names.filter(isOfDead);
  await someAtOnce(MOST_AT_ONCE, dead, (name) => {
    return endGroup(join(parent, name), name.startsWith(groupKinds.spared) ? parent : null);
  });
}

/** Like `ownGroup`. */
async function findOwnGroup(): Promise<string | null> {
  try {
    const [group, mounts] = await Promise.all([readFile(ownFiles.group, 'utf8'), readFile(ownFiles.mounts, 'utf8')]);
    for (const directory of groupDirectories(group, mounts)) {
      if (await isReadable(join(directory, 'cgroup.procs'))) return directory;
    }
    return null;
  } catch {
    return null;
  }
}

function isReadable(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Only for processes of this PID namespace: others cannot be checked from here. */
function isOfDead(name: string): boolean {
  const [, namespace, pid, startTime] = /^wf-(?:run|spare)-([\d.]+)-(\d+)-(\d+)$/.exec(name) ?? [];
  const scope = processScope();
  if (pid === undefined || namespace !== (scope.namespace ?? '0') || !scope.hasOwnProc) return false;
  const { boot } = scope;
  return !isAlive({ pid: Number(pid), startTime: Number(startTime), boot, namespace: scope.namespace });
}
