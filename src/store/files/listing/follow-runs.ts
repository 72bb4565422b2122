import { statSync } from 'node:fs';
import { openWakeups } from './wakeups.ts';

/**
 * Yields at once, and whenever an entry of a directory was added or removed, until the signal is aborted. The
 * directory need not exist yet.
 */
export async function* followRuns(runsDir: string, signal: AbortSignal): AsyncGenerator<void, void> {
  let wakeups = openWakeups(runsDir);
  let seen = changedAt(runsDir);
  try {
    yield;
    while (!signal.aborted) {
      await wakeups.next(signal);
      const now = changedAt(runsDir);
      if (now === seen) continue;
      if (seen === null) {
        wakeups.close();
        wakeups = openWakeups(runsDir);
      }
      seen = now;
      yield;
    }
  } finally {
    wakeups.close();
  }
}

function changedAt(directory: string): number | null {
  return statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
