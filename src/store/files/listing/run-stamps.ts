import { statSync } from 'node:fs';
import { join } from 'node:path';
import { journalPath } from '../run-directory.ts';

/** Resolution of file times: a second change within it may leave the time unchanged. */
const coarsestMs = 50;

/** Detects changes of runs in files by one stat call each, without reading them. */
export function createRunStamps(runsDir: string, now: () => number) {
  return {
    /** Null while a further change could be missed, because one was just made. */
    ofList: (): string | null => {
      const changedAt = statSync(runsDir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      return Math.abs(now() - changedAt) < coarsestMs ? null : String(changedAt);
    },
    ofRun: (runId: string): string => {
      const stats = statSync(journalPath(join(runsDir, runId)), { throwIfNoEntry: false });
      return stats === undefined ? '' : `${stats.size}.${stats.mtimeMs}`;
    },
  };
}
