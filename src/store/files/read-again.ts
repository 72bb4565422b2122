import { statSync } from 'node:fs';
import type { StoredRun } from '../store.ts';
import type { Processes } from './control/owner.ts';
import { type JournalMark, readAfter } from './journal/journal-mark.ts';
import { type JournalMarks, readRun } from './read-run.ts';
import { journalPath } from './run-directory.ts';
import { snapshotPath } from './snapshot-file.ts';

const marks: JournalMarks = new WeakMap();
/** The snapshots of the runs with a mark, which change only by damage. */
const snapshots = new WeakMap<JournalMark, string>();

/**
 * Reads a run from its directory; of one that was read before, only the events since then, and the same object if there
 * are none. Throws as `readRun` does.
 */
export function readAgain(
  directory: string,
  runId: string,
  { before, isAlive }: { readonly before: StoredRun | null; readonly isAlive: Processes['isAlive'] },
): StoredRun | null {
  const snapshot = stampOf(snapshotPath(directory));
  const remember = (run: StoredRun | null) => {
    const mark = run === null ? undefined : marks.get(run);
    if (mark !== undefined) snapshots.set(mark, snapshot);
    return run;
  };
  const mark = before === null ? undefined : marks.get(before);
  const isSame = mark !== undefined && snapshots.get(mark) === snapshot;
  const added = isSame ? readAfter(journalPath(directory), mark) : null;
  if (before === null || added === null) return remember(readRun(directory, runId, { isAlive, marks }));
  if (added.events.length === 0) return before;
  const run = { ...before, events: [...before.events, ...added.events] };
  marks.set(run, added.mark);
  return remember(run);
}

/** Empty if there is no such file, or it cannot be examined: reading the run reports the reason. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  } catch {
    return '';
  }
}
