import { isFinished } from '../core/run/run-state.ts';
import type { BoardRun } from '../core/run/summary.ts';
import { type PastRun, readPastRun, summarizePastRun } from '../service/history/past-run.ts';
import type { RunArchive } from '../store/store.ts';
import { createRecentRuns, type RecentRuns } from './recent-runs.ts';

/**
 * The last and the active runs of every workflow, for processes that live long. Runs are changed by other processes, so
 * `refresh` looks at them; everything else answers from memory, as of the last look.
 */
export type RunBoard = {
  /** Looks for what has changed, no more than some times a second. Reads only runs that are new or have gone on. */
  readonly refresh: () => Promise<void>;
  /** The next `refresh` looks in any case, after a change. `runId`: a run that had finished was changed. */
  readonly touch: (runId?: string) => void;
  /** Another number whenever `lastRunOf` or `activeOf` would differ. */
  readonly version: () => number;
  /** The newest run of a workflow, by its absolute file. */
  readonly lastRunOf: (file: string) => BoardRun | null;
  /** Runs that are not over, newest first, queued ones too. */
  readonly activeOf: (file: string) => readonly BoardRun[];
  /** The ids of all runs of a workflow, newest first. */
  readonly runIdsOf: (file: string) => readonly string[];
  /** The last runs of a workflow, and how they are read. */
  readonly recent: Pick<RecentRuns, 'of' | 'read'>;
  /** Every run that is not over, newest first. */
  readonly active: () => readonly BoardRun[];
  /** One run as of the last look, or read now where no look needs it; null when it is gone. */
  readonly headOf: (runId: string) => BoardRun | null;
  /** Calls a listener whenever a look finds a run that is new, has changed or is gone; `file` is null for a run of no file. */
  readonly watch: (listener: RunListener) => void;
  /** Looks at a run as if it were the last of its workflow, and calls `look` whenever it was read, until the result is called. */
  readonly attend: (runId: string, look: () => void) => () => void;
};

/** Where `runId` is null, only what is known of the workflow has changed. */
export type RunListener = (runId: string | null, file: string | null) => void;

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
  readonly #attended = new Map<string, Set<() => void>>();
  readonly #listeners: RunListener[] = [];
  #isFirstLook = true;
  readonly recent: RecentRuns;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookedAtFinished = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  /** Something has changed since the last look began. */
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
    // A clock that was set back must not blind the board.
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
      // Of a directory without a label nothing can be read.
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
