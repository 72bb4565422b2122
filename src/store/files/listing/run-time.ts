import { statSync } from 'node:fs';
import { join } from 'node:path';
import { journalPath } from '../run-directory.ts';
import { timeOfId } from '../run-id.ts';
import { snapshotPath } from '../snapshot-file.ts';

/**
 * The creation time of a run or, if its snapshot is lost, a time at which it existed; null for a directory without a
 * run.
 */
export function timeOfRun(runsDir: string, runId: string): number | null {
  const time = timeOfId(runId);
  if (time !== null) return time;
  const directory = join(runsDir, runId);
  try {
    return changedAt(snapshotPath(directory)) ?? changedAt(journalPath(directory));
  } catch {
    // The directory cannot be read: it is a run, and reading it reports the reason.
    return changedAt(directory);
  }
}

function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
