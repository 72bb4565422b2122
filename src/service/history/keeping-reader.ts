import type { RunArchive } from '#store/store.ts';
import { type PastRun, readPastRun } from './past-run.ts';

/**
 * The events that a reader keeps, of all its runs together. With its part of the state, an event takes about 1 kB of
 * memory, and a run besides its events about as much as a hundred of them.
 */
const MAX_EVENTS = 40_000;
const EVENTS_PER_RUN = 100;

/**
 * Creates a reader like `readPastRun` that keeps the runs it has read last, so that it reads and folds only their events
 * since then.
 */
export function keepingReader(archive: RunArchive, maxEvents = MAX_EVENTS): (runId: string) => PastRun | null {
  /** The run read last is the last entry. */
  const kept = new Map<string, PastRun>();
  let weight = 0;
  const drop = (runId: string) => {
    const run = kept.get(runId);
    if (run !== undefined) weight -= weightOf(run);
    kept.delete(runId);
  };
  const keep = (run: PastRun) => {
    if (run.damage.length > 0 || weightOf(run) > maxEvents) return;
    kept.set(run.runId, run);
    weight += weightOf(run);
    for (const oldest of kept.keys()) {
      if (weight <= maxEvents) return;
      drop(oldest);
    }
  };
  return (runId) => {
    const run = readPastRun(archive, runId, kept.get(runId) ?? null);
    drop(runId);
    if (run !== null) keep(run);
    return run;
  };
}

function weightOf({ stored }: PastRun): number {
  return (stored?.events.length ?? 0) + EVENTS_PER_RUN;
}
