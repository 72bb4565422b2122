import { statSync } from 'node:fs';
import { join } from 'node:path';
import { journalPath } from '../run-directory.ts';

/** File times are no finer than this: what happens within it of a change may leave the time as it was. */
const coarsestMs = 50;

/** Tells whether runs in files have changed, by one look at each and without reading. */
export function createRunStamps(runsDir: string, now: () => number) {
  return {
    /** Null while a change could go unseen, because one has just been made. */
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
