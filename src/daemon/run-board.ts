import { isFinished } from '../core/run/run-state.ts';
import type { RunSummary } from '../core/run/summary.ts';
import { type PastRun, readPastRun, summarizePastRun } from '../service/history/past-run.ts';
import type { RunArchive } from '../store/store.ts';

/** What of a run the board keeps: all but its steps, of which there may be many thousand in all. */
export type BoardRun = Omit<RunSummary, 'steps' | 'handlers' | 'warnings'>;

/**
 * The last and the active runs of every workflow, for processes that live long. Runs are changed by other processes, so
 * `refresh` looks at them; everything else answers from memory, as of the last look.
 */
export type RunBoard = {
  /** Looks for what has changed, no more than some times a second. Reads only runs that are new or have gone on. */
  readonly refresh: () => Promise<void>;
  /** The next `refresh` looks in any case, for whoever has just changed something. */
  readonly touch: () => void;
  /** Another number whenever `lastRunOf` or `activeOf` would differ. */
  readonly version: () => number;
  /** The newest run of a workflow, by its absolute file. */
  readonly lastRunOf: (file: string) => BoardRun | null;
  /** Runs that are not over, newest first, queued ones too. */
  readonly activeOf: (file: string) => readonly BoardRun[];
  /** The ids of all runs of a workflow, newest first. */
  readonly runIdsOf: (file: string) => readonly string[];
  /** Every run that is not over, newest first. */
  readonly active: () => readonly BoardRun[];
};

/** How to see without reading that something has changed. Each is a text that differs when what it stands for does. */
export type RunStamps = {
  /** Of which runs there are; null when that cannot be told just now, so that it has to be looked at. */
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
/** A run that is over changes only when a person marks a step of it. */
const pauseForFinishedMs = 1000;
/** For so long after its directory a run's first event may be missing. */
const longestBirthMs = 5000;
/** So many runs are read before others get their turn. */
const runsAtOnce = 20;

/** An empty board; the first `refresh` fills it. */
export function createRunBoard(parts: RunBoardParts): RunBoard {
  return new Board(parts);
}

class Board implements RunBoard {
  readonly #parts: RunBoardParts;
  #number = 0;
  #listStamp: string | null = null;
  /** By run; null for one that was made from no file. */
  #files: ReadonlyMap<string, string | null> = new Map();
  #idsByFile: ReadonlyMap<string, readonly string[]> = new Map();
  #active = new Set<string>();
  readonly #entries = new Map<string, Entry>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookedAtFinished = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** Something has changed since the last look began. */
  #isTouched = false;

  constructor(parts: RunBoardParts) {
    this.#parts = parts;
  }

  readonly refresh = (): Promise<void> => {
    if (this.#looking !== null) return this.#isTouched ? this.#looking.then(this.refresh) : this.#looking;
    const pause = this.#parts.now() - this.#lookedAt;
    // A clock that was set back must not blind the board.
    if (!this.#isTouched && pause >= 0 && pause < leastPauseMs) return Promise.resolve();
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  };

  readonly touch = (): void => {
    this.#isTouched = true;
    this.#lookedAtFinished = Number.NEGATIVE_INFINITY;
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

  async #look(): Promise<void> {
    const now = this.#parts.now();
    this.#lookedAt = now;
    this.#isTouched = false;
    this.#listNew();
    const seesFinished = Math.abs(now - this.#lookedAtFinished) >= pauseForFinishedMs;
    if (seesFinished) this.#lookedAtFinished = now;
    const lasts = [...this.#idsByFile.values()].flatMap(([last]) => last ?? []);
    let read = 0;
    for (const runId of new Set([...lasts, ...this.#active])) {
      if (!this.#isStale(runId, seesFinished)) continue;
      this.#read(runId);
      read += 1;
      if (read % runsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
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
      const file = this.#files.get(runId) ?? labelOf(runId)?.file;
      if (file !== undefined) files.set(runId, file);
      else if (this.#isBeingMade(runId)) this.#listStamp = null;
      else files.set(runId, null);
    }
    for (const runId of this.#entries.keys()) if (!files.has(runId)) this.#forget(runId);
    for (const runId of fresh) if (files.get(runId) != null && archive.mayGoOn(runId)) this.#active.add(runId);
    this.#files = files;
    this.#idsByFile = groupByFile(files);
    this.#number += 1;
  }

  #isBeingMade(runId: string): boolean {
    return this.#parts.now() - this.#parts.archive.timeOf(runId) < longestBirthMs;
  }

  #forget(runId: string): void {
    this.#entries.delete(runId);
    this.#active.delete(runId);
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
    const isOver = isFinished(run.state);
    if (isOver) this.#active.delete(runId);
    this.#entries.set(runId, { run: boardRun(run, archive), isOver, stamp });
    this.#number += 1;
  }
}

function boardRun(run: PastRun, archive: RunArchive): BoardRun {
  const { steps: _, handlers: __, warnings: ___, ...rest } = summarizePastRun(run, archive.timeOf(run.runId));
  return rest;
}

/** The order of the ids stays. */
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
