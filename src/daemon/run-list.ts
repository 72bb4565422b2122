import type { Clock } from '../engine/clock.ts';
import type { RunArchive } from '../store/store.ts';

/** Functions that detect changes without reading. Each returns a text that changes with its subject. */
export type RunStamps = {
  /** Returns the stamp of the list of runs; null if it is unavailable, so that the list must be read. */
  readonly ofList: () => string | null;
  readonly ofRun: (runId: string) => string;
};

export type RunListParts = {
  readonly archive: Pick<RunArchive, 'list' | 'labels' | 'timeOf'>;
  readonly stamps: Pick<RunStamps, 'ofList'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** The directory of the runs after a change. */
export type ListedRuns = {
  readonly stamp: string | null;
  /** The ids of all runs, newest first. */
  readonly ids: readonly string[];
  /** New ids, and those whose first event was missing before. */
  readonly fresh: readonly string[];
  /** The file of the workflow by run; null: the run has no file. Runs without their first event are missing. */
  readonly files: ReadonlyMap<string, string | null>;
};

/** A run directory may exist this long before its first event is written. */
export const longestBirthMs = 5000;

/** The ids of all runs and the files of their workflows, as of the last `take`. */
export class RunList {
  readonly #parts: RunListParts;
  #stamp: string | null = null;
  #files: ListedRuns['files'] = new Map();
  #idsByFile: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(parts: RunListParts) {
    this.#parts = parts;
  }

  /** Returns the file of the workflow of a run; null also for an unknown run. */
  fileOf(runId: string): string | null {
    return this.#files.get(runId) ?? null;
  }

  /** Returns the ids of the runs of a workflow, newest first. */
  readonly idsOf = (file: string): readonly string[] => this.#idsByFile.get(file) ?? [];

  /** Returns the files of all workflows with runs. */
  readonly files = (): readonly string[] => [...this.#idsByFile.keys()];

  /** Returns the newest run of each workflow. */
  lastIds(): readonly string[] {
    return [...this.#idsByFile.values()].flatMap(([last]) => last ?? []);
  }

  /** Reads the directory; null if it has not changed. */
  read(): ListedRuns | null {
    const { archive, stamps } = this.#parts;
    const stamp = stamps.ofList();
    if (stamp !== null && stamp === this.#stamp) return null;
    const ids = archive.list();
    const fresh = ids.filter((runId) => !this.#files.has(runId));
    if (fresh.length === 0 && ids.length === this.#files.size) {
      this.#stamp = stamp;
      return null;
    }
    const labelOf = archive.labels(fresh);
    const files = new Map<string, string | null>();
    for (const runId of ids) {
      const known = this.#files.get(runId);
      const file = known === undefined ? labelOf(runId)?.file : known;
      if (file !== undefined) files.set(runId, file);
      else if (!this.#isBeingMade(runId)) files.set(runId, null);
    }
    return { stamp: files.size === ids.length ? stamp : null, ids, fresh, files };
  }

  /** Accepts what `read` returned; returns the removed runs with their files. */
  take({ stamp, files }: ListedRuns): readonly (readonly [runId: string, file: string | null])[] {
    const removed = [...this.#files].filter(([runId]) => !files.has(runId));
    this.#stamp = stamp;
    this.#files = files;
    this.#idsByFile = groupByFile(files);
    return removed;
  }

  #isBeingMade(runId: string): boolean {
    return this.#parts.clock.now() - this.#parts.archive.timeOf(runId) < longestBirthMs;
  }
}

/** Groups run ids by file and keeps their order. */
function groupByFile(files: ListedRuns['files']): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const [runId, file] of files) {
    if (file === null) continue;
    const group = groups.get(file);
    if (group === undefined) groups.set(file, [runId]);
    else group.push(runId);
  }
  return groups;
}
