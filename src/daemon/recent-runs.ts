import type { RunStatus } from '../core/run/run.ts';
import { isFinished } from '../core/run/run-state.ts';
import { WfError } from '../errors.ts';
import { foldRun } from '../service/history/fold-run.ts';
import { readPastRun } from '../service/history/past-run.ts';
import type { RunArchive } from '../store/store.ts';

/** As much of a past run as a row of ticks needs. */
export type RecentRun = { readonly runId: string; readonly status: RunStatus; readonly durationMs: number | null };

/** The last runs of workflows. What has finished is read once. */
export type RecentRuns = {
  /** Newest first; null for a workflow that `read` has not come to yet. */
  readonly of: (file: string) => readonly RecentRun[] | null;
  /**
   * Reads the last runs of these workflows. Resolves when all are read, or, where they are very many, when some thousand runs are;
   * the others are read afterwards, and `changed` is called for each of their workflows.
   */
  readonly read: (files: readonly string[]) => Promise<void>;
  /** What is known of a run may not be true any more. */
  readonly forget: (runId: string) => void;
};

export type RecentRunsParts = {
  readonly archive: RunArchive;
  /** All runs of a workflow, newest first. */
  readonly idsOf: (file: string) => readonly string[];
  /** A run that is known already. */
  readonly knownRun: (runId: string) => RecentRun | null;
  readonly changed: (file: string) => void;
};

/** Of each workflow. */
const MAX_RECENT = 20;
/** Runs that a request waits for. */
const MAX_AWAITED_RUNS = 2000;
/** Other work waits no longer than this while runs are read. */
const sliceMs = 10;

/** Nothing is read yet. */
export function createRecentRuns(parts: RecentRunsParts): RecentRuns {
  return new LocalRecentRuns(parts);
}

class LocalRecentRuns implements RecentRuns {
  readonly #parts: RecentRunsParts;
  readonly #files = new Set<string>();
  /** Finished ones. */
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

  /** Answers how many runs it has read. */
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

/** By its events alone; null for one that is gone or damaged. */
function readRecent(
  runId: string,
  archive: RecentRunsParts['archive'],
): { readonly run: RecentRun; readonly isFinished: boolean } | null {
  try {
    const { events } = archive.readEvents(runId);
    // What marks make of a run depends on its workflow, too, which takes longer to read.
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
