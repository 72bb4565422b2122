import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushDirectory } from '../disk/flush-directory.ts';
import { discardRun } from './trash.ts';

/**
 * Withdraws a named run that could not be flushed: its request was refused, so it must never start. This process must
 * own it, which prevents others from carrying it meanwhile. Returns false if the disk refuses this too, and the run
 * still exists.
 */
export function takeBack(runsDir: string, runId: string): boolean {
  const directory = join(runsDir, runId);
  try {
    discardRun(runsDir, runId);
  } catch {
    // One rename removes it from the history; the rest in the trash is removed with the next run.
    if (isThere(directory)) return false;
  }
  try {
    // Otherwise the run could reappear after a crash of the machine.
    flushDirectory(dirname(directory));
  } catch {
    // The disk has refused a flush before: nothing more can be done.
  }
  return true;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
