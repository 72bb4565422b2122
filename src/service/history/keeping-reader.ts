import type { RunArchive } from '../../store/store.ts';
import { type PastRun, readPastRun } from './past-run.ts';

/**
 * The events that a reader keeps, of all its runs together. With its part of the state, an event takes about 1 kB of
 * memory.
 */
const MAX_EVENTS = 40_000;

/**
 * Creates a reader like `readPastRun` that keeps the runs it has read last, so that it reads and folds only their events
 * since then.
 */
export function keepingReader(archive: RunArchive, maxEvents = MAX_EVENTS): (runId: string) => PastRun | null {
  /** The run read last is the last entry. */
  const kept = new Map<string, PastRun>();
  let count = 0;
  const drop = (runId: string) => {
    count -= eventsOf(kept.get(runId));
    kept.delete(runId);
  };
  const keep = (run: PastRun) => {
    if (run.damage.length > 0 || eventsOf(run) > maxEvents) return;
    kept.set(run.runId, run);
    count += eventsOf(run);
    for (const oldest of kept.keys()) {
      if (count <= maxEvents) return;
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

function eventsOf(run: PastRun | undefined): number {
  return run?.stored?.events.length ?? 0;
}
