import { isFinished } from '#core/run/run-state.ts';
import { headOf } from '#core/summary/summarize.ts';
import type { RunHead } from '#core/summary/summary.ts';
import { readPastRun, summarizePastRun } from '#service/history/past-run.ts';
import { readFinished } from '#service/history/read-finished.ts';
import type { RunArchive, StoredRun } from '#store/store.ts';

/** A run as read from its files. */
export type FoundHead = {
  readonly head: RunHead;
  readonly isFinished: boolean;
  /** Null if they were not read with the workflow of the run. */
  readonly events: StoredRun['events'] | null;
};

/**
 * Reads a run for lists; null if there is no readable run. Only the journal of a finished run is read; `isUnfinished` skips
 * that attempt.
 */
export function readHead(archive: RunArchive, runId: string, isUnfinished = false): FoundHead | null {
  const found = isUnfinished ? null : readFinished(archive, runId);
  const run = found ?? readPastRun(archive, runId);
  if (run === null) return null;
  const head = headOf(summarizePastRun(run, archive.timeOf(runId)));
  return { head, isFinished: isFinished(run.state), events: run.stored?.events ?? null };
}
