import { constants } from 'node:fs';
import { readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_AGAIN_MS = 5;
/** A process that survives SIGKILL for longer waits for a device that does not respond, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/**
 * Kills the members of a control group, or moves them, and removes it; in other threads, since a look may take a
 * second.
 */
export async function endGroup(group: string, spareIn: string | null): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while ((await isPopulated(group)) && performance.now() < deadline) {
    if (spareIn === null && !(await write(join(group, 'cgroup.kill'), '1'))) break;
    if (spareIn !== null) for (const pid of await members(group)) await write(join(spareIn, 'cgroup.procs'), pid);
    if (await isPopulated(group)) await delay(LOOK_AGAIN_MS);
  }
  // A group that still has processes stays. `endDeadGroups` removes it later.
  await rmdir(group).catch(() => {});
}

async function isPopulated(group: string): Promise<boolean> {
  return /^populated 1$/m.test(await read(join(group, 'cgroup.events')));
}

/** Process numbers. */
async function members(group: string): Promise<readonly string[]> {
  return (await read(join(group, 'cgroup.procs'))).split('\n').filter((pid) => Number(pid) > 0);
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** False for a missing file or process, or if not permitted. */
function write(path: string, text: string): Promise<boolean> {
  // Write-only: `cgroup.kill` cannot be read.
  return writeFile(path, text, { flag: constants.O_WRONLY }).then(
    () => true,
    () => false,
  );
}
