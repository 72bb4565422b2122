import { statSync } from 'node:fs';
import { join } from 'node:path';
import { journalStamp } from '../journal/journal-stamp.ts';
import { isRunId, journalPath, timeOfId } from '../run-directory.ts';
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

/** Resolution of file times, in milliseconds: a second change within it may leave the time unchanged. */
const coarsestMs = 50;

/** Whether something changed so recently that another change may leave its time unchanged. */
export function mayHideChange(changedAt: number, now: number): boolean {
  return Math.abs(now - changedAt) < coarsestMs;
}

/** Detects changes of runs in files by one stat call each, without reading them. */
export function createRunStamps(runsDir: string, now: () => number) {
  return {
    /** Null while a further change could be missed, because one was just made. */
    ofList: (): string | null => {
      const changedAt = statSync(runsDir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      return mayHideChange(changedAt, now()) ? null : String(changedAt);
    },
    /** Empty if there is no such run. */
    ofRun: (runId: string): string => (isRunId(runId) ? (journalStamp(join(runsDir, runId)) ?? '') : ''),
  };
}
