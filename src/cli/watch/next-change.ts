import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { pause } from '#system/time-limit.ts';
import { changedPaths, type FileTimes, type Scan, scan, type WatchTargets } from './scan.ts';

/** Changes within this time count as one, since editors and generators write several files, or one file in several steps. */
const settleMs = 100;
/** For places whose changes the system does not report (network shares, mounts of containers). */
const pollMs = 1000;
/** Scanning takes at most a twentieth of the time. */
const restPerLook = 20;

/**
 * Waits until the files differ from `before` and have stopped changing; resolves to the new snapshot, or to null if `signal` is
 * aborted. A notification of the system only triggers a scan.
 */
export async function nextChange(
  targets: WatchTargets,
  before: FileTimes,
  signal: AbortSignal,
): Promise<FileTimes | null> {
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

/** Watches directories, as far as the system reports changes. */
class DirectoryWatchers {
  readonly #watchers = new Map<string, FSWatcher | null>();
  #wake: () => void = () => {};

  add({ directories }: Scan, { files }: WatchTargets): void {
    // Editors often replace a file, which a watch on the file itself would miss.
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

  /** Null if the system offers no watch; then only regular scans find changes. */
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

/** The changes during a run. */
type ChangesDuringRun = {
  /** Changes that start another run. */
  readonly counted: readonly string[];
  /** Files that changed in every run and are ignored from now on. */
  readonly discounted: readonly string[];
};

/** A user may save a file during one run and the next, so two runs do not prove that the run writes it. */
const runsInARow = 3;

/**
 * Separates files that the user changes during a run from those that the run writes itself, which would start runs without end:
 * a file that changes during three runs in a row belongs to the run. Its changes during runs are ignored until it changes
 * between two runs.
 */
export class OwnWrites {
  readonly #own = new Set<string>();
  #inARow: ReadonlyMap<string, number> = new Map();

  /** Compares the snapshots before and after a run. */
  judge(before: FileTimes, after: FileTimes): ChangesDuringRun {
    const changed = changedPaths(before, after).filter((path) => !this.#own.has(path));
    const inARow = new Map(changed.map((path) => [path, (this.#inARow.get(path) ?? 0) + 1]));
    const discounted = changed.filter((path) => (inARow.get(path) ?? 0) >= runsInARow);
    for (const path of discounted) this.#own.add(path);
    this.#inARow = inARow;
    return { counted: changed.filter((path) => !this.#own.has(path)), discounted };
  }

  /** Reports files that changed between runs, by the user. */
  changedBetween(paths: readonly string[]): void {
    for (const path of paths) this.#own.delete(path);
    this.#inARow = new Map();
  }
}
