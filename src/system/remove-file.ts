import { rmSync, unlinkSync } from 'node:fs';
import { messageOf } from './errors.ts';

/**
 * Removes a file of a run if possible. Cleaning up never fails the work it follows: a remaining file lies in a
 * directory that is removed, and reported, at the end of the run.
 */
export function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone, or left for the end of the run.
  }
}

/**
 * Removes a file if it exists. Throws system errors. Not by `rmSync`, which loads a module in Node 20, and whose errors
 * lack a code in some cases in Node 24.
 */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
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
