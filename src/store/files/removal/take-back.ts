import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushDirectory } from '../disk/flush-directory.ts';
import { discardRun } from './trash.ts';

/**
 * Takes back a run that has its name already and could not be put on the disk for sure: whoever asked for it is told that it was
 * refused, so it must never start. This process must own it, which keeps others from carrying it out meanwhile. False where
 * the disk refuses this too, and the run is still there.
 */
export function takeBack(runsDir: string, runId: string): boolean {
  const directory = join(runsDir, runId);
  try {
    discardRun(runsDir, runId);
  } catch {
    // One rename takes it out of the history; what is left in the trash is removed with the next run that is.
    if (isThere(directory)) return false;
  }
  try {
    // Else the run could be back after a crash of the machine.
    flushDirectory(dirname(directory));
  } catch {
    // The disk has refused a flush before: nothing more can be done about it.
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
