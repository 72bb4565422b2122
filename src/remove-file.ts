import { rmSync, unlinkSync } from 'node:fs';

/**
 * Removes a file of a run's own where that is possible: tidying never fails what it tidies up after. What stays lies in a
 * directory whose removal is tried again at the end of the run, and reported. Not by `rmSync`, which loads a module for
 * removing directories.
 */
export function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or for the end of the run.
  }
}

/** Removes a directory with all its content. Returns why it is still there, for a person; null when it is gone. */
export function removeDirectory(path: string): string | null {
  try {
    rmSync(path, { recursive: true, force: true });
    return null;
  } catch (error) {
    return `"${path}" could not be removed: ${error instanceof Error ? error.message : String(error)}`;
  }
}
