import { isFinished } from '../core/run/run-state.ts';
import type { BoardRun } from '../core/run/summary.ts';
import { type PastRun, readPastRun, summarizePastRun } from '../service/history/past-run.ts';
import type { RunArchive } from '../store/store.ts';
import { createRecentRuns, type RecentRuns } from './recent-runs.ts';

/**
 * The last and the active runs of every workflow, in the memory of a daemon. Other processes change runs, so `refresh`
 * checks them; all other methods return the state of the last check from memory.
 */
export type RunBoard = {
  /** Checks for changes, at most some times a second. Reads only new and changed runs. */
  readonly refresh: () => Promise<void>;
  /** Makes the next `refresh` check in any case. `runId`: a finished run that was changed. */
  readonly touch: (runId?: string) => void;
  /** Returns a number that changes with the results of `lastRunOf` and `activeOf`. */
  readonly version: () => number;
  /** Returns the newest run of a workflow, by the absolute path of its file. */
  readonly lastRunOf: (file: string) => BoardRun | null;
  /** Returns the unfinished runs of a workflow, queued ones too, newest first. */
  readonly activeOf: (file: string) => readonly BoardRun[];
  /** Returns the ids of all runs of a workflow, newest first. */
  readonly runIdsOf: (file: string) => readonly string[];
  /** The last runs of workflows. */
  readonly recent: Pick<RecentRuns, 'of' | 'read'>;
  /** Returns every unfinished run, newest first. */
  readonly active: () => readonly BoardRun[];
  /** Returns one run as of the last check, or reads it now if checks skip it; null if it was removed. */
  readonly headOf: (runId: string) => BoardRun | null;
  /** Calls a listener when a check finds a new, changed or removed run; `file` is null for a run without a file. */
  readonly watch: (listener: RunListener) => void;
  /** Checks a run like the last of its workflow, and calls `look` after each read, until the returned function is called. */
  readonly attend: (runId: string, look: () => void) => () => void;
};

/** If `runId` is null, only the data of the workflow has changed. */
export type RunListener = (runId: string | null, file: string | null) => void;

/** Functions that detect changes without reading. Each returns a text that changes with its subject. */
export type RunStamps = {
  /** Returns the stamp of the list of runs; null if it is unavailable, so that the list must be read. */
  readonly ofList: () => string | null;
  readonly ofRun: (runId: string) => string;
};

export type RunBoardParts = {
  readonly archive: RunArchive;
  readonly stamps: RunStamps;
  readonly now: () => number;
};

type Entry = { readonly run: BoardRun; readonly isOver: boolean; readonly stamp: string };

const leastPauseMs = 100;
/** The interval between checks of a finished run, which changes only when a user marks one of its steps. */
const pauseForFinishedMs = 1000;
/** A run directory may exist this long before its first event. */
const longestBirthMs = 5000;
/** Runs read per turn of the event loop. */
const runsAtOnce = 20;

/** Creates an empty board; the first `refresh` fills it. */
export function createRunBoard(parts: RunBoardParts): RunBoard {
  return new Board(parts);
}

class Board implements RunBoard {
  readonly #parts: RunBoardParts;
  #number = 0;
  #listStamp: string | null = null;
  /** The files by run; null: the run has no file. */
  #files: ReadonlyMap<string, string | null> = new Map();
  #idsByFile: ReadonlyMap<string, readonly string[]> = new Map();
  #active = new Set<string>();
  readonly #entries = new Map<string, Entry>();
  readonly #attended = new Map<string, Set<() => void>>();
  readonly #listeners: RunListener[] = [];
  #isFirstLook = true;
  readonly recent: RecentRuns;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookedAtFinished = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** Whether something changed after the last check began. */
  #isTouched = false;

  constructor(parts: RunBoardParts) {
    this.#parts = parts;
    this.recent = createRecentRuns({
      archive: parts.archive,
      idsOf: this.runIdsOf,
      knownRun: (runId) => {
        const run = this.#entries.get(runId)?.run;
        return run === undefined ? null : { runId, status: run.status, durationMs: run.durationMs };
      },
      changed: (file) => {
        this.#number += 1;
        this.#tell(null, file);
      },
    });
  }

  readonly refresh = (): Promise<void> => {
    if (this.#looking !== null) return this.#isTouched ? this.#looking.then(this.refresh) : this.#looking;
    const pause = this.#parts.now() - this.#lookedAt;
    // A clock that was set back must not disable checks.
    if (!this.#isTouched && pause >= 0 && pause < leastPauseMs) return Promise.resolve();
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  };

  readonly touch = (runId?: string): void => {
    this.#isTouched = true;
    this.#lookedAtFinished = Number.NEGATIVE_INFINITY;
    if (runId === undefined) return;
    this.recent.forget(runId);
    this.#number += 1;
    this.#tell(runId, this.#files.get(runId) ?? null);
  };

  readonly version = (): number => this.#number;

  readonly lastRunOf = (file: string): BoardRun | null => {
    const [last] = this.runIdsOf(file);
    return last === undefined ? null : (this.#entries.get(last)?.run ?? null);
  };

  readonly runIdsOf = (file: string): readonly string[] => this.#idsByFile.get(file) ?? [];

  readonly activeOf = (file: string): readonly BoardRun[] => this.active().filter((run) => run.file === file);

  readonly active = (): readonly BoardRun[] => {
    const runs = [...this.#active].flatMap((runId) => this.#entries.get(runId)?.run ?? []);
    return runs.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  };

  readonly headOf = (runId: string): BoardRun | null => {
    const entry = this.#entries.get(runId);
    if (entry !== undefined) return entry.run;
    const run = readPastRun(this.#parts.archive, runId);
    return run === null ? null : boardRun(run, this.#parts.archive);
  };

  readonly watch = (listener: RunListener): void => {
    this.#listeners.push(listener);
  };

  readonly attend = (runId: string, look: () => void): (() => void) => {
    const looks = this.#attended.get(runId) ?? new Set();
    this.#attended.set(runId, looks.add(look));
    return () => {
      looks.delete(look);
      if (looks.size === 0) this.#attended.delete(runId);
    };
  };

  #tell(runId: string | null, file: string | null): void {
    for (const listener of this.#listeners) listener(runId, file);
  }

  async #look(): Promise<void> {
    const now = this.#parts.now();
    this.#lookedAt = now;
    this.#isTouched = false;
    this.#listNew();
    const seesFinished = Math.abs(now - this.#lookedAtFinished) >= pauseForFinishedMs;
    if (seesFinished) this.#lookedAtFinished = now;
    const lasts = [...this.#idsByFile.values()].flatMap(([last]) => last ?? []);
    const wanted = new Set([...lasts, ...this.#active, ...this.#attended.keys()]);
    for (const runId of this.#entries.keys()) if (!wanted.has(runId)) this.#entries.delete(runId);
    let read = 0;
    for (const runId of wanted) {
      if (!this.#isStale(runId, seesFinished)) continue;
      this.#read(runId);
      read += 1;
      if (read % runsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isFirstLook = false;
  }

  #listNew(): void {
    const { archive, stamps } = this.#parts;
    const stamp = stamps.ofList();
    if (stamp !== null && stamp === this.#listStamp) return;
    this.#listStamp = stamp;
    const ids = archive.list();
    const fresh = ids.filter((runId) => !this.#files.has(runId));
    if (fresh.length === 0 && ids.length === this.#files.size) return;
    const labelOf = archive.labels(fresh);
    const files = new Map<string, string | null>();
    for (const runId of ids) {
      const known = this.#files.get(runId);
      const file = known === undefined ? labelOf(runId)?.file : known;
      if (file !== undefined) files.set(runId, file);
      else if (this.#isBeingMade(runId)) this.#listStamp = null;
      else files.set(runId, null);
    }
    const before = this.#files;
    this.#files = files;
    for (const [runId, file] of before) if (!files.has(runId)) this.#forget(runId, file);
    for (const runId of fresh) {
      const file = files.get(runId);
      if (file === undefined) continue;
      // A run directory without a label cannot be read.
      if (labelOf(runId) !== null && archive.mayGoOn(runId)) this.#active.add(runId);
      if (!this.#isFirstLook) this.#tell(runId, file);
    }
    this.#idsByFile = groupByFile(files);
    this.#number += 1;
  }

  #isBeingMade(runId: string): boolean {
    return this.#parts.now() - this.#parts.archive.timeOf(runId) < longestBirthMs;
  }

  #forget(runId: string, file: string | null): void {
    this.#entries.delete(runId);
    this.#active.delete(runId);
    this.#tell(runId, file);
  }

  #isStale(runId: string, seesFinished: boolean): boolean {
    const entry = this.#entries.get(runId);
    if (entry === undefined) return true;
    return (!entry.isOver || seesFinished) && this.#parts.stamps.ofRun(runId) !== entry.stamp;
  }

  #read(runId: string): void {
    const { archive, stamps } = this.#parts;
    const stamp = stamps.ofRun(runId);
    const run = readPastRun(archive, runId);
    if (run === null) return;
    const known = this.#entries.get(runId);
    const isOver = isFinished(run.state);
    if (isOver) this.#active.delete(runId);
    const head = boardRun(run, archive);
    this.#entries.set(runId, { run: head, isOver, stamp });
    this.#number += 1;
    for (const look of this.#attended.get(runId) ?? []) look();
    // Most events are about steps.
    const isSame = known !== undefined && JSON.stringify(known.run) === JSON.stringify(head);
    if (!isSame && !this.#isFirstLook) this.#tell(runId, this.#files.get(runId) ?? null);
  }
}

function boardRun(run: PastRun, archive: RunArchive): BoardRun {
  const { steps: _, handlers: __, warnings: ___, ...rest } = summarizePastRun(run, archive.timeOf(run.runId));
  return rest;
}

/** Groups run ids by file and keeps their order. */
function groupByFile(files: ReadonlyMap<string, string | null>): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const [runId, file] of files) {
    if (file === null) continue;
    const group = groups.get(file);
    if (group === undefined) groups.set(file, [runId]);
    else group.push(runId);
  }
  return groups;
}
