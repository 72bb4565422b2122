import type { RunStatus } from '../core/run/run.ts';
import { isFinished } from '../core/run/run-state.ts';
import { WfError } from '../errors.ts';
import { foldRun } from '../service/history/fold-run.ts';
import { readPastRun } from '../service/history/past-run.ts';
import type { RunArchive } from '../store/store.ts';

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
  /** Drops a run that may have changed. */
  readonly forget: (runId: string) => void;
};

export type RecentRunsParts = {
  readonly archive: RunArchive;
  /** Returns the ids of all runs of a workflow, newest first. */
  readonly idsOf: (file: string) => readonly string[];
  /** Returns a run if it is known. */
  readonly knownRun: (runId: string) => RecentRun | null;
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
    let awaited = 0;
    let sliceEnd = performance.now() + sliceMs;
    for (const [index, file] of missing.entries()) {
      awaited += this.#readOne(file);
      if (performance.now() > sliceEnd) {
        await new Promise<void>((resolve) => void setImmediate(resolve));
        sliceEnd = performance.now() + sliceMs;
      }
      if (awaited < MAX_AWAITED_RUNS) continue;
      void this.#readLater(missing.slice(index + 1));
      return;
    }
  };

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
    const known = this.#parts.knownRun(runId) ?? this.#runs.get(runId);
    if (known !== undefined) return known;
    const run = readRecent(runId, this.#parts.archive);
    if (run?.isFinished) this.#runs.set(runId, run.run);
    if (this.#runs.size > 2 * MAX_RECENT * (this.#files.size + 100)) this.#forgetOld();
    return run?.run ?? null;
  }

  #forgetOld(): void {
    const recent = new Set([...this.#files].flatMap((file) => this.#idsOf(file)));
    for (const runId of this.#runs.keys()) if (!recent.has(runId)) this.#runs.delete(runId);
  }
}

/** Reads a run from its events only; null if it was removed or is damaged. */
function readRecent(
  runId: string,
  archive: RecentRunsParts['archive'],
): { readonly run: RecentRun; readonly isFinished: boolean } | null {
  try {
    const { events } = archive.readEvents(runId);
    // The effect of marks depends on the workflow too, which takes longer to read.
    const isMarked = events.some(({ type }) => type === 'step.marked');
    const state = isMarked ? readPastRun(archive, runId)?.state : foldRun(null, events).state;
    if (state === undefined) return null;
    const { status, startedAt, finishedAt } = state;
    const durationMs = startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);
    return { run: { runId, status, durationMs }, isFinished: isFinished(state) };
  } catch (error) {
    if (error instanceof WfError) return null;
    throw error;
  }
}
