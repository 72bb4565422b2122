import { type FSWatcher, watch } from 'node:fs';

/** Reports that a directory may have changed. */
export type JournalWakeups = {
  /**
   * Resolves after a change since the last call or the opening, and from time to time without one; at once if the
   * signal is aborted. Only one call at a time.
   */
  readonly next: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
};

/** Changes within this time are reported once. */
const gatherMs = 20;
/** Poll interval: not every file system reports changes, and none reports those of another machine. */
const lookAnywayMs = 500;
const lookUnwatchedMs = 100;

/** Watches the files of one directory, but not of its subdirectories; polls if watching is not available. */
export function openWakeups(directory: string): JournalWakeups {
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

/** Null if the directory does not exist, and if the system's limit of watches is reached. */
function openWatcher(directory: string, listener: () => void): FSWatcher | null {
  try {
    return watch(directory, listener);
  } catch {
    return null;
  }
}

/** Waits for a change, but at most `longestMs`. */
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
