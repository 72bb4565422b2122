import { statSync } from 'node:fs';
import { mayHideChange } from './run-time.ts';
import { openWakeups } from './wakeups.ts';

/**
 * Yields at once, and whenever an entry of a directory was added or removed, until the signal is aborted. The
 * directory need not exist yet.
 */
export async function* followRuns(runsDir: string, signal: AbortSignal): AsyncGenerator<void, void> {
  let wakeups = openWakeups(runsDir);
  let seen = stampOf(runsDir);
  try {
    yield;
    for (;;) {
      await wakeups.next(signal);
      if (signal.aborted) return;
      const now = stampOf(runsDir);
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

/** Never the same twice while a further change could leave the time unchanged; null if there is no directory. */
function stampOf(directory: string): string | null {
  const changedAt = statSync(directory, { throwIfNoEntry: false })?.mtimeMs;
  if (changedAt === undefined) return null;
  return mayHideChange(changedAt, Date.now()) ? `${changedAt}.${performance.now()}` : String(changedAt);
}
