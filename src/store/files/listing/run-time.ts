import { statSync } from 'node:fs';
import { join } from 'node:path';
import { journalPath } from '../run-directory.ts';
import { timeOfId } from '../run-id.ts';
import { snapshotPath } from '../snapshot-file.ts';

/** When a run was made, or at least lived, where its snapshot is lost; null for a directory that holds none. */
export function timeOfRun(runsDir: string, runId: string): number | null {
  const time = timeOfId(runId);
  if (time !== null) return time;
  const directory = join(runsDir, runId);
  try {
    return changedAt(snapshotPath(directory)) ?? changedAt(journalPath(directory));
  } catch {
    // It cannot be looked into: there is a run, and whoever reads it is told why.
    return changedAt(directory);
  }
}

function changedAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
