import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { changedPaths, type Scan, type Snapshot, scan, type WatchTargets } from './scan.ts';

/** Editors and generators write several files, and one in several steps: what happens within this time is one change. */
const settleMs = 100;
/** For places whose changes the system does not tell (network shares, mounts of containers). */
const pollMs = 1000;
/** Looking takes at most a twentieth of the time. */
const restPerLook = 20;

/**
 * Waits until something is different from `before` and has come to rest; resolves to what it is then, or to null when
 * `signal` is aborted. The system's word that something happened is only a reason to look.
 */
export async function nextChange(
  targets: WatchTargets,
  before: Snapshot,
  signal: AbortSignal,
): Promise<Snapshot | null> {
  const watchers = new DirectoryWatchers();
  try {
    for (let last = before; !signal.aborted; ) {
      const startedAt = performance.now();
      const found = scan(targets);
      const tookMs = performance.now() - startedAt;
      watchers.add(found, targets);
      const isDifferent = changedPaths(before, found.snapshot).length > 0;
      if (isDifferent && changedPaths(last, found.snapshot).length === 0) return found.snapshot;
      last = found.snapshot;
      if (isDifferent) await pause(settleMs, signal);
      else await watchers.event(Math.max(pollMs, restPerLook * tookMs), signal);
    }
    return null;
  } finally {
    watchers.close();
  }
}

/** Tells that something happens in some directories, as far as the system tells it. */
class DirectoryWatchers {
  readonly #watchers = new Map<string, FSWatcher | null>();
  #wake: () => void = () => {};

  add({ directories }: Scan, { files }: WatchTargets): void {
    // A file is often replaced by another of its name, which a watch on the file itself would miss.
    for (const directory of [...directories, ...files.map((file) => dirname(file))]) {
      if (!this.#watchers.has(directory)) this.#watchers.set(directory, this.#open(directory));
    }
  }

  /** Resolves at the next event, after the time, or when `signal` is aborted. */
  event(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    return pause(ms, AbortSignal.any([signal, woken.signal]));
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher?.close();
  }

  /** Null where the system has no watch left, or knows none: then the regular look is all there is. */
  #open(directory: string): FSWatcher | null {
    try {
      const watcher = watch(directory, () => this.#wake());
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return null;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

/** What changed while a run went on. */
type ChangesDuringRun = {
  /** A reason for another run. */
  readonly counted: readonly string[];
  /** Found just now to change in every run, and not counted from now on. */
  readonly discounted: readonly string[];
};

/** Somebody who works on a file may well save it during one run and during the next. */
const runsInARow = 3;

/**
 * Tells files that somebody changes during a run from those that the run writes itself, which would have it run for ever:
 * one that changes during three runs in a row is the run's own, and what happens to it during a run counts no more, until
 * it changes between two runs.
 */
export class OwnWrites {
  readonly #own = new Set<string>();
  #inARow: ReadonlyMap<string, number> = new Map();

  /** Compares what was there before a run and after it. */
  judge(before: Snapshot, after: Snapshot): ChangesDuringRun {
    const changed = changedPaths(before, after).filter((path) => !this.#own.has(path));
    const inARow = new Map(changed.map((path) => [path, (this.#inARow.get(path) ?? 0) + 1]));
    const discounted = changed.filter((path) => (inARow.get(path) ?? 0) >= runsInARow);
    for (const path of discounted) this.#own.add(path);
    this.#inARow = inARow;
    return { counted: changed.filter((path) => !this.#own.has(path)), discounted };
  }

  /** Files that changed while no run went on: somebody does that. */
  changedBetween(paths: readonly string[]): void {
    for (const path of paths) this.#own.delete(path);
    this.#inARow = new Map();
  }
}
