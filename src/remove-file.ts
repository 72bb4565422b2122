import { rmSync, unlinkSync } from 'node:fs';
import { messageOf } from './errors.ts';

/**
 * Removes a file of a run if possible. Cleaning up never fails the work it follows: a remaining file lies in a
 * directory that is removed, and reported, at the end of the run. Does not use `rmSync`, which loads a module for
 * removing directories.
 */
export function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone, or left for the end of the run.
  }
}

/** Removes a directory with its content. Returns why it still exists, or null once it is gone. */
export function removeDirectory(path: string): string | null {
  try {
    rmSync(path, { recursive: true, force: true });
    return null;
  } catch (error) {
    return `"${path}" could not be removed: ${messageOf(error)}`;
  }
}
