import type { RunStatus } from '../core/run/run.ts';
import type { RunHead } from '../core/run/summary.ts';
import type { RunArchive } from '../store/store.ts';
import { createSlices } from '../turns.ts';
import { readHead } from './read-head.ts';

/** The data of a past run for a row of ticks. */
export type RecentRun = { readonly runId: string; readonly status: RunStatus; readonly durationMs: number | null };

/** The last runs of workflows. Finished runs are read once. */
export type RecentRuns = {
  /** Returns the last runs, newest first; null if `read` has not reached the workflow yet. */
  readonly of: (file: string) => readonly RecentRun[] | null;
  /**
   * Reads the last runs of these workflows. Resolves when all are read, or `MAX_AWAITED_RUNS` of them; the others are
   * read afterwards, and `changed` is called for each of their workflows.
   */
  readonly read: (files: readonly string[]) => Promise<void>;
  /** Keeps a finished run that was read for another reason. */
  readonly keep: (head: RunHead) => void;
  /** Drops a run that may have changed. */
  readonly forget: (runId: string) => void;
};

export type RecentRunsParts = {
  readonly archive: RunArchive;
  /** Returns the ids of all runs of a workflow, newest first. */
  readonly idsOf: (file: string) => readonly string[];
  /** Returns a run if it is known. */
  readonly knownRun: (runId: string) => RunHead | null;
  readonly changed: (file: string) => void;
};

/** Runs kept for each workflow. */
const MAX_RECENT = 20;
/** The maximum number of runs for which a request waits. */
const MAX_AWAITED_RUNS = 2000;
/** The maximum time of reading runs per turn of the event loop. */
const sliceMs = 10;

/** Creates the list; runs are read by `read`. */
export function createRecentRuns(parts: RecentRunsParts): RecentRuns {
  return new LocalRecentRuns(parts);
}

class LocalRecentRuns implements RecentRuns {
  readonly #parts: RecentRunsParts;
  readonly #files = new Set<string>();
  /** Finished runs by id. */
  readonly #runs = new Map<string, RecentRun>();

  constructor(parts: RecentRunsParts) {
    this.#parts = parts;
  }

  readonly of = (file: string): readonly RecentRun[] | null => {
    if (!this.#files.has(file)) return null;
    return this.#idsOf(file).flatMap((runId) => this.#run(runId) ?? []);
  };

  readonly read = async (files: readonly string[]): Promise<void> => {
    const missing = files.filter((file) => !this.#files.has(file));
    const pause = createSlices(sliceMs);
    let awaited = 0;
    for (const [index, file] of missing.entries()) {
      awaited += this.#readOne(file);
      await pause();
      if (awaited < MAX_AWAITED_RUNS) continue;
      void this.#readLater(missing.slice(index + 1));
      return;
    }
  };

  readonly keep = (head: RunHead): void => void this.#runs.set(head.runId, recentRun(head));

  readonly forget = (runId: string): void => {
    this.#runs.delete(runId);
  };

  async #readLater(files: readonly string[]): Promise<void> {
    for (const file of files) {
      if (this.#files.has(file)) continue;
      this.#readOne(file);
      this.#parts.changed(file);
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  /** Reads the last runs of a workflow and returns their number. */
  #readOne(file: string): number {
    const before = this.#runs.size;
    for (const runId of this.#idsOf(file)) this.#run(runId);
    this.#files.add(file);
    return this.#runs.size - before;
  }

  #idsOf(file: string): readonly string[] {
    return this.#parts.idsOf(file).slice(0, MAX_RECENT);
  }

  #run(runId: string): RecentRun | null {
    const known = this.#parts.knownRun(runId);
    const kept = known === null ? this.#runs.get(runId) : recentRun(known);
    if (kept !== undefined) return kept;
    const found = readHead(this.#parts.archive, runId);
    if (found === null) return null;
    if (found.isFinished) this.keep(found.head);
    if (this.#runs.size > 2 * MAX_RECENT * (this.#files.size + 100)) this.#forgetOld();
    return recentRun(found.head);
  }

  #forgetOld(): void {
    const recent = new Set([...this.#files].flatMap((file) => this.#idsOf(file)));
    for (const runId of this.#runs.keys()) if (!recent.has(runId)) this.#runs.delete(runId);
  }
}

function recentRun({ runId, status, durationMs }: RunHead): RecentRun {
  return { runId, status, durationMs };
}
