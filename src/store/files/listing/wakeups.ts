import { type FSWatcher, watch } from 'node:fs';

/** Tells that something in a directory may have changed. */
export type Wakeups = {
  /**
   * Resolves when something has changed since the last call or the opening, and from time to time without that; at once
   * when the signal is aborted. Only one call at a time.
   */
  readonly next: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
};

/** Changes that come close together are told once. */
const gatherMs = 20;
/** Not every file system tells of changes, and none of those that another machine makes. */
const lookAnywayMs = 500;
const lookUnwatchedMs = 100;

/** Watches the files of one directory, but not those in directories below it; looks by time where that is not to be had. */
export function openWakeups(directory: string): Wakeups {
  let hasChanged = false;
  let wake = () => {};
  let watcher = openWatcher(directory, () => {
    hasChanged = true;
    wake();
  });
  const close = () => {
    watcher?.close();
    watcher = null;
  };
  watcher?.on('error', close);
  return {
    next: async (signal) => {
      if (!hasChanged) {
        const change = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await until(change, watcher === null ? lookUnwatchedMs : lookAnywayMs, signal);
      }
      if (hasChanged) await until(null, gatherMs, signal);
      hasChanged = false;
    },
    close,
  };
}

/** Null for a directory that is not there, and when the system watches too much already. */
function openWatcher(directory: string, listener: () => void): FSWatcher | null {
  try {
    return watch(directory, listener);
  } catch {
    return null;
  }
}

/** Waits for a change, but not longer than it may. */
async function until(change: Promise<void> | null, longestMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let end = () => {};
  const enough = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(end, longestMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    await (change === null ? enough : Promise.race([change, enough]));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
