import { isFinished } from '#core/run/run-state.ts';
import { headOf } from '#core/summary/summarize.ts';
import type { RunHead } from '#core/summary/summary.ts';
import { readFinished, readPastRun, summarizePastRun } from '#service/history.ts';
import type { RecentRun } from '#service/served.ts';
import type { DurableText, RunArchive, StoredRun } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { createSlices, nextTurn } from '#system/turns.ts';

export type RecentRunsParts = {
  readonly archive: RunArchive;
  /** Losing it costs time. */
  readonly recentCache: Pick<DurableText, 'read' | 'write'>;
  /** Returns the files of all workflows with runs. */
  readonly files: () => readonly string[];
  /** Returns the ids of the last `most` runs of a workflow, newest first. */
  readonly idsOf: (file: string, most: number) => readonly string[];
  /** Returns a run if it is known. */
  readonly knownRun: (runId: string) => RunHead | null;
  readonly changed: (file: string) => void;
  readonly report: (error: unknown) => void;
};

/** A finished run, and the stamp of its journal, which changes if a step is marked. */
type Kept = { readonly run: RecentRun; readonly stamp: string };

/** Runs kept for each workflow. */
const MAX_RECENT = 20;
/** The maximum number of journals for which a request waits. */
const MAX_AWAITED_READS = 500;
/** Runs read before the cache is written, at the end of a request. */
const MAX_UNCACHED_RUNS = 500;
/** The maximum time of reading runs per turn of the event loop. */
const sliceMs = 10;

/** The last runs of workflows. A finished run is read once, by this daemon or an earlier one. */
export class RecentRuns {
  readonly #parts: RecentRunsParts;
  readonly #files = new Set<string>();
  /** Finished runs by id. */
  readonly #runs = new Map<string, Kept>();
  /** The runs that an earlier daemon has read and this one has not compared with their journals; null: not loaded. */
  #cached: Map<string, Kept> | null = null;
  /** The workflows without last runs in an answer, which are read in the background. */
  readonly #later = new Set<string>();
  #isReadingLater = false;
  #uncached = 0;
  #reads = 0;

  constructor(parts: RecentRunsParts) {
    this.#parts = parts;
  }

  /** Returns the last runs, newest first; null if `read` has not reached the workflow yet. */
  readonly of = (file: string): readonly RecentRun[] | null => {
    if (!this.#files.has(file)) return null;
    return this.#idsOf(file).flatMap((runId) => this.#run(runId) ?? []);
  };

  /**
   * Reads the last runs of these workflows. Resolves when all are read, or `MAX_AWAITED_READS` journals; the others are
   * read afterwards, and `changed` is called for each of their workflows.
   */
  readonly read = async (files: readonly string[]): Promise<void> => {
    const missing = files.filter((file) => !this.#files.has(file));
    const pause = createSlices(sliceMs);
    const before = this.#reads;
    for (const [index, file] of missing.entries()) {
      this.#readOne(file);
      await pause();
      if (this.#reads - before < MAX_AWAITED_READS) continue;
      this.#readLater(missing.slice(index + 1));
      return;
    }
    if (this.#uncached >= MAX_UNCACHED_RUNS) this.#writeCache();
  };

  /** Keeps a finished run that was read for another reason. */
  keep(head: RunHead, stamp: string): void {
    const known = this.#runs.get(head.runId) ?? this.#loadCache().get(head.runId);
    if (known?.stamp !== stamp) this.#uncached += 1;
    this.#runs.set(head.runId, { run: recentRun(head), stamp });
    if (this.#runs.size > 2 * MAX_RECENT * (this.#files.size + 100)) this.#forgetOld();
  }

  /** Drops a run that may have changed. */
  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Writes the cache for the next daemon. */
  close(): void {
    if (this.#uncached > 0) this.#writeCache();
  }

  /** Adds workflows to those that are read in the background. */
  #readLater(files: readonly string[]): void {
    for (const file of files) this.#later.add(file);
    if (!this.#isReadingLater) void this.#readInBackground().catch(this.#parts.report);
  }

  async #readInBackground(): Promise<void> {
    this.#isReadingLater = true;
    try {
      for (const file of this.#later) {
        this.#later.delete(file);
        // Another request may have read it, but the first one has no last runs of it.
        if (!this.#files.has(file)) this.#readOne(file);
        this.#parts.changed(file);
        await nextTurn();
      }
    } finally {
      this.#isReadingLater = false;
    }
    if (this.#uncached >= MAX_UNCACHED_RUNS) this.#writeCache();
  }

  #readOne(file: string): void {
    for (const runId of this.#idsOf(file)) this.#run(runId);
    this.#files.add(file);
  }

  #idsOf(file: string): readonly string[] {
    return this.#parts.idsOf(file, MAX_RECENT);
  }

  #run(runId: string): RecentRun | null {
    const { archive, knownRun } = this.#parts;
    const known = knownRun(runId);
    if (known !== null) return recentRun(known);
    const kept = this.#runs.get(runId);
    if (kept !== undefined) return kept.run;
    const stamp = archive.stampOf(runId) ?? '';
    const cached = this.#loadCache().get(runId);
    if (cached?.stamp === stamp) {
      this.#runs.set(runId, cached);
      return cached.run;
    }
    this.#reads += 1;
    const found = readHead(archive, runId);
    if (found?.isFinished) this.keep(found.head, stamp);
    return found === null ? null : recentRun(found.head);
  }

  #forgetOld(): void {
    const recent = this.#recentIds();
    for (const runId of this.#runs.keys()) if (!recent.has(runId)) this.#runs.delete(runId);
  }

  #recentIds(): ReadonlySet<string> {
    return new Set(this.#parts.files().flatMap((file) => this.#idsOf(file)));
  }

  #loadCache(): ReadonlyMap<string, Kept> {
    this.#cached ??= this.#tried(() => parseCache(this.#parts.recentCache.read() ?? '')) ?? new Map();
    return this.#cached;
  }

  #writeCache(): void {
    this.#uncached = 0;
    const cached = this.#loadCache();
    const kept = [...this.#recentIds()].flatMap((runId) => this.#runs.get(runId) ?? cached.get(runId) ?? []);
    const lines = kept.map(({ run: { runId, status, durationMs }, stamp }) =>
      JSON.stringify([runId, status, durationMs, stamp]),
    );
    this.#tried(() => this.#parts.recentCache.write(`${lines.join('\n')}\n`));
  }

  #tried<Result>(work: () => Result): Result | null {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      this.#parts.report(error);
      return null;
    }
  }
}

/** Lines that this version does not understand are skipped. */
function parseCache(text: string): Map<string, Kept> {
  const cached = new Map<string, Kept>();
  for (const line of text.split('\n')) {
    try {
      const [runId, status, durationMs, stamp] = JSON.parse(line);
      cached.set(runId, { run: { runId, status, durationMs }, stamp });
    } catch {
      // The run is read from its journal.
    }
  }
  return cached;
}

function recentRun({ runId, status, durationMs }: RunHead): RecentRun {
  return { runId, status, durationMs };
}

/** A run as read from its files. */
type FoundHead = {
  readonly head: RunHead;
  readonly isFinished: boolean;
  /** Null if they were not read with the workflow of the run. */
  readonly events: StoredRun['events'] | null;
};

/**
 * Reads a run for lists; null if there is no readable run. Only the journal of a finished run is read; `isUnfinished` skips
 * that attempt.
 */
export function readHead(archive: RunArchive, runId: string, isUnfinished = false): FoundHead | null {
  const found = isUnfinished ? null : readFinished(archive, runId);
  const run = found ?? readPastRun(archive, runId);
  if (run === null) return null;
  const head = headOf(summarizePastRun(run, archive.timeOf(runId)));
  return { head, isFinished: isFinished(run.state), events: run.stored?.events ?? null };
}
