import { closeSync, openSync, writeSync } from 'node:fs';
import { os } from '#start-up/os.ts';
import { readSelf } from './process-table.ts';

/** The highest number, of the lowest priority. */
const lowest = 19;

/**
 * Lowers the priority of this thread and of the processes that it starts from now on. A user without special rights cannot
 * raise it again.
 */
export function lowerPriority(by: number): void {
  const priority = Math.min(os().getPriority() + by, lowest);
  try {
    os().setPriority(priority);
  } catch {
    // Some sandboxes forbid the call.
  }
  const self = readSelf();
  if (self !== null && self.session === self.pid) lowerSession(priority);
}

/**
 * Where Linux shares the processors among sessions (autogroups), the priority of a process counts only within its
 * session: for a process with a session of its own not at all. Linux refuses users without special rights more than ten
 * changes a second.
 */
function lowerSession(priority: number): void {
  try {
    const fd = openSync('/proc/self/autogroup', 'r+');
    try {
      writeSync(fd, String(priority));
    } finally {
      closeSync(fd);
    }
  } catch {
    // No autogroups, or too many changes.
  }
}
