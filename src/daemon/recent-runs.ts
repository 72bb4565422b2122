import type { FinishedStatus } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { headOf } from '#core/summary/summarize.ts';
import type { RunHead } from '#core/summary/summary.ts';
import { readFinished, readPastRun, summarizePastRun } from '#service/history.ts';
import type { RecentRun } from '#service/served.ts';
import type { RunArchive, RunStatuses } from '#store/store.ts';
import { createSlices, nextTurn } from '#system/turns.ts';

export type RecentRunsParts = {
  readonly archive: RunArchive;
  readonly files: () => readonly string[];
  /** Returns the ids of the last `most` runs of a workflow, newest first. */
  readonly idsOf: (file: string, most: number) => readonly string[];
  readonly knownRun: (runId: string) => RunHead | null;
  readonly changed: (file: string) => void;
  readonly report: (error: unknown) => void;
};

const MAX_RECENT = 20;
/** The maximum number of journals for which a request waits. */
const MAX_AWAITED_READS = 500;

type Pause = ReturnType<typeof createSlices>;

/** The last runs of workflows. Only the journals of runs without a remembered status are read. */
export class RecentRuns {
  readonly #parts: RecentRunsParts;
  readonly #files = new Set<string>();
  /** Finished runs by id. */
  readonly #runs = new Map<string, RecentRun>();
  /** The workflows without last runs in an answer, which are read in the background. */
  readonly #later = new Set<string>();
  /** The remembered statuses of all runs, while workflows are read: they take much memory. */
  #statuses: RunStatuses | null = null;
  #readers = 0;
  #isReadingLater = false;
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
    if (missing.length === 0) return;
    const before = this.#reads;
    await this.#reading(async (pause) => {
      await this.#takeRemembered(missing, pause);
      for (const [index, file] of missing.entries()) {
        this.#readOne(file);
        await pause();
        if (this.#reads - before < MAX_AWAITED_READS) continue;
        this.#readLater(missing.slice(index + 1));
        return;
      }
    });
  };

  /** Keeps a finished run that was read for another reason. */
  keep(head: RunHead): void {
    this.#runs.set(head.runId, recentRun(head));
    if (this.#runs.size > 2 * MAX_RECENT * (this.#files.size + 100)) this.#forgetOld();
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Opens the remembered statuses for the time of the work, and stores those that were added. */
  async #reading(work: (pause: Pause) => Promise<void>): Promise<void> {
    this.#readers += 1;
    try {
      await work(createSlices());
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) {
        this.#statuses?.save();
        this.#statuses = null;
      }
    }
  }

  /** Takes the remembered runs of workflows in the order of the list, in which they are found fastest. */
  async #takeRemembered(files: readonly string[], pause: Pause): Promise<void> {
    const { archive, knownRun } = this.#parts;
    const wanted = new Set(files.flatMap((file) => this.#idsOf(file)));
    for (const runId of wanted) if (this.#runs.has(runId) || knownRun(runId) !== null) wanted.delete(runId);
    if (wanted.size === 0) return;
    const ids = archive.list();
    this.#statuses ??= archive.statuses(ids);
    for (const runId of ids) {
      if (!wanted.has(runId)) continue;
      this.#remembered(runId);
      await pause();
    }
  }

  #remembered(runId: string): RecentRun | null {
    const status = this.#statuses?.of(runId) ?? null;
    if (status === null) return null;
    const run = { runId, status, durationMs: this.#statuses?.durationOf(runId) ?? null };
    this.#runs.set(runId, run);
    return run;
  }

  #readLater(files: readonly string[]): void {
    for (const file of files) this.#later.add(file);
    if (!this.#isReadingLater) void this.#readInBackground().catch(this.#parts.report);
  }

  async #readInBackground(): Promise<void> {
    this.#isReadingLater = true;
    try {
      await this.#reading(async () => {
        for (const file of this.#later) {
          this.#later.delete(file);
          // Another request may have read it, but the first one has no last runs of it.
          if (!this.#files.has(file)) this.#readOne(file);
          this.#parts.changed(file);
          await nextTurn();
        }
      });
    } finally {
      this.#isReadingLater = false;
    }
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
    const kept = this.#runs.get(runId) ?? this.#remembered(runId);
    if (kept !== null) return kept;
    this.#reads += 1;
    const found = readHead(archive, runId);
    if (found === null) return null;
    const { status, durationMs } = found.head;
    if (found.isFinished) {
      this.#statuses?.keep(runId, status as FinishedStatus, durationMs);
      this.keep(found.head);
    }
    return recentRun(found.head);
  }

  #forgetOld(): void {
    const recent = new Set(this.#parts.files().flatMap((file) => this.#idsOf(file)));
    for (const runId of this.#runs.keys()) if (!recent.has(runId)) this.#runs.delete(runId);
  }
}

function recentRun({ runId, status, durationMs }: RunHead): RecentRun {
  return { runId, status, durationMs };
}

/**
 * Reads a run for lists; null if there is no readable run. Only the journal of a finished run is read, without its events;
 * `isUnfinished` skips that attempt.
 */
export function readHead(archive: RunArchive, runId: string, isUnfinished = false) {
  const found = isUnfinished ? null : readFinished(archive, runId);
  const run = found ?? readPastRun(archive, runId);
  if (run === null) return null;
  const head = headOf(summarizePastRun(run, archive.timeOf(runId)));
  return { head, isFinished: isFinished(run.state), events: run.stored?.events ?? null };
}

/** The most runs of a workflow that are read for a moment before them. */
const MOST_MOMENTS_READ = 100;

/**
 * Returns the last moment before another whose run has succeeded; null: none of the last runs, newest first. Backfills and
 * retries run for moments before those of older runs, so the search continues after them.
 */
export function previousMoment(archive: RunArchive, runIds: readonly string[], before: number): number | null {
  let found: number | null = null;
  for (const runId of runIds.slice(0, MOST_MOMENTS_READ)) {
    const { scheduledFor = null, status, trigger, retryOf } = readHead(archive, runId)?.head ?? {};
    const at = scheduledFor === null ? before : Date.parse(scheduledFor);
    if (at >= before || (status !== 'succeeded' && status !== 'partially_succeeded')) continue;
    found = Math.max(found ?? at, at);
    if (trigger === 'schedule' && retryOf === null) return found;
  }
  return found;
}
