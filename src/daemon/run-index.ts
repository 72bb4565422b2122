import type { RunHead } from '#core/summary/summary.ts';
import type { ServedRuns } from '#service/served.ts';
import { createSlices } from '#system/turns.ts';
import { RecentRuns, readHead } from './recent-runs.ts';
import { type LifecycleParts, RunLifecycle } from './run-lifecycle.ts';
import { RunList } from './run-list.ts';

/** If `runId` is null, only the data of the workflow has changed. */
export type RunListener = (runId: string | null, file: string | null) => void;

type Entry = { readonly head: RunHead; readonly isFinished: boolean; readonly stamp: string };

const LEAST_POLL_MS = 100;
/** The interval between checks of the processes of unfinished runs, and of finished runs, whose steps users can mark. */
const USUAL_POLL_MS = 1000;

/**
 * All runs of a home, in the memory of a daemon: their ids by workflow, the last ones of every workflow, and the unfinished
 * ones with their lifecycle. Other processes change runs, so the index checks the directory of the runs: every second for
 * unfinished runs, and for lists when `refresh` is called. All other methods return the state of the last check.
 */
export class RunIndex implements ServedRuns {
  readonly #parts: LifecycleParts;
  readonly #list: RunList;
  readonly #lifecycle: RunLifecycle;
  #number = 0;
  /** The last runs of workflows, the unfinished and the attended runs. */
  readonly #entries = new Map<string, Entry>();
  readonly #attended = new Map<string, Set<() => void>>();
  readonly #listeners: RunListener[] = [];
  #isFirstList = true;
  #isFirstRead = true;
  readonly recent: RecentRuns;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checkedFinishedAt = Number.NEGATIVE_INFINITY;
  /** The check that has not finished, and whether it is one for `refresh`. */
  #checking: Promise<void> | null = null;
  #readsHeads = false;
  /** Whether something changed after the last check for `refresh` began. */
  #isTouched = false;
  #cancelTimer = () => {};
  #isClosed = false;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    this.#list = new RunList(parts);
    this.#lifecycle = new RunLifecycle(parts);
    this.recent = new RecentRuns({
      ...parts,
      files: this.#list.files,
      idsOf: this.runIdsOf,
      knownRun: (runId) => this.#entries.get(runId)?.head ?? null,
      changed: (file) => {
        this.#number += 1;
        this.#notify(null, file);
      },
    });
  }

  /** Checks now, and then every second: waiting runs are reported, and runs whose process has died are settled. */
  readonly open = async (): Promise<void> => {
    this.#lifecycle.open();
    await this.checkUnfinished();
    this.#checkLater();
  };

  /** Stops all checks and resolves when the last has finished. */
  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#cancelTimer();
    await this.#checking?.catch(this.#parts.report);
    await this.#lifecycle.close();
  };

  readonly refresh = (): Promise<void> => {
    if (this.#checking !== null) {
      const isEnough = this.#readsHeads && !this.#isTouched;
      return isEnough ? this.#checking : this.#checking.catch(() => {}).then(this.refresh);
    }
    const pause = this.#parts.clock.now() - this.#checkedAt;
    // A clock that was set back must not disable checks.
    if (!this.#isTouched && pause >= 0 && pause < LEAST_POLL_MS) return Promise.resolve();
    return this.#begin(true);
  };

  /** Finds new runs, and reports what has changed in those that are unfinished. */
  readonly checkUnfinished = async (): Promise<void> => {
    while (this.#checking !== null) await this.#checking.catch(() => {});
    await this.#begin(false);
  };

  readonly touch = (runId?: string): void => {
    this.#isTouched = true;
    this.#checkedFinishedAt = Number.NEGATIVE_INFINITY;
    if (runId === undefined) return;
    this.recent.forget(runId);
    this.#number += 1;
    this.#notify(runId, this.#list.fileOf(runId));
  };

  readonly version = (): number => this.#number;

  readonly lastRunOf = (file: string): RunHead | null =>
    this.#entries.get(this.runIdsOf(file, 1)[0] ?? '')?.head ?? null;

  readonly runIdsOf = (file: string, most = Number.POSITIVE_INFINITY): readonly string[] =>
    this.#list.idsOf(file, most);

  readonly isRunOf = (file: string, runId: string): boolean => this.#list.fileOf(runId) === file;

  readonly activeOf = (file: string): readonly RunHead[] => this.active().filter((run) => run.file === file);

  /** Returns every unfinished run, newest first. */
  readonly active = (): readonly RunHead[] => {
    const entries = this.#lifecycle.ids().flatMap((runId) => this.#entries.get(runId) ?? []);
    const unfinished = entries.filter(({ isFinished }) => !isFinished).map(({ head }) => head);
    return unfinished.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  };

  /** Returns the number of runs that a process runs, whatever started them. */
  readonly running = (): number => this.#lifecycle.running();

  /** Returns the number of unfinished runs in which a step waits for approval. */
  readonly awaitingApproval = (): number =>
    this.#lifecycle.ids().filter((runId) => (this.#entries.get(runId)?.head.waitingFor ?? []).length > 0).length;

  readonly headOf = (runId: string): RunHead | null =>
    this.#entries.get(runId)?.head ?? readHead(this.#parts.archive, runId)?.head ?? null;

  /** Calls a listener when a check finds a new, changed or removed run; `file` is null for a run without a file. */
  readonly watch = (listener: RunListener): void => {
    this.#listeners.push(listener);
  };

  /** Checks a run like the last of its workflow, and calls `look` after each read, until the returned function is called. */
  readonly attend = (runId: string, look: () => void): (() => void) => {
    const looks = this.#attended.get(runId) ?? new Set();
    this.#attended.set(runId, looks.add(look));
    return () => {
      looks.delete(look);
      if (looks.size === 0) this.#attended.delete(runId);
    };
  };

  #notify(runId: string | null, file: string | null): void {
    for (const listener of this.#listeners) listener(runId, file);
  }

  #checkLater(): void {
    const { clock, report } = this.#parts;
    if (this.#isClosed) return;
    this.#cancelTimer = clock.setTimer(clock.now() + USUAL_POLL_MS, () => {
      void this.checkUnfinished()
        .catch(report)
        .finally(() => this.#checkLater());
    });
  }

  #begin(readsHeads: boolean): Promise<void> {
    this.#readsHeads = readsHeads;
    this.#checking = this.#check().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#readsHeads) {
      this.#checkedAt = this.#parts.clock.now();
      this.#isTouched = false;
    }
    await this.#checkList();
    this.#isFirstList = false;
    if (this.#readsHeads) await this.#readHeads();
    else await this.#lifecycle.check();
  }

  async #checkList(): Promise<void> {
    const listed = this.#list.read();
    if (listed === null) return;
    await this.#addUnfinished(listed.fresh);
    const removed = listed.removed.map((runId) => ({ runId, file: this.#list.fileOf(runId) }));
    this.#list.take(listed);
    this.#number += 1;
    const fresh = new Set(listed.fresh);
    this.#lifecycle.keep((runId) => this.#list.has(runId) || fresh.has(runId));
    for (const { runId, file } of removed) {
      this.#entries.delete(runId);
      this.#notify(runId, file);
    }
    const added = this.#isFirstList ? [] : listed.added;
    for (const [runId, file] of added) this.#notify(runId, file);
  }

  /** Adds new runs, the oldest first; at the start only those that may be unfinished, or whose finish is not reported yet. */
  async #addUnfinished(fresh: readonly string[]): Promise<void> {
    const left = new Set(this.#isFirstList ? this.#parts.memory.read() : []);
    const pause = createSlices();
    for (const runId of fresh.toReversed()) {
      if (!this.#isFirstList || left.has(runId) || this.#mayBeActive(runId)) this.#lifecycle.add(runId);
      await pause();
    }
  }

  /** A run of another user, or on a damaged disk, must not keep the daemon from all others. */
  #mayBeActive(runId: string): boolean {
    try {
      return this.#parts.archive.mayGoOn(runId);
    } catch (error) {
      this.#parts.report(error);
      return false;
    }
  }

  async #readHeads(): Promise<void> {
    const now = this.#parts.clock.now();
    const seesFinished = Math.abs(now - this.#checkedFinishedAt) >= USUAL_POLL_MS;
    if (seesFinished) this.#checkedFinishedAt = now;
    const unfinished = new Set(this.#lifecycle.ids());
    // The end of a run that is settled must be read, too.
    const changing = [...this.#entries].flatMap(([runId, { isFinished }]) => (isFinished ? [] : [runId]));
    const wanted = new Set([...this.#list.lastIds(), ...unfinished, ...changing, ...this.#attended.keys()]);
    for (const runId of this.#entries.keys()) if (!wanted.has(runId)) this.#entries.delete(runId);
    const pause = createSlices();
    for (const runId of wanted) {
      const entry = this.#entries.get(runId);
      const isChecked = entry === undefined || !entry.isFinished || seesFinished;
      if (isChecked && (this.#parts.archive.stampOf(runId) ?? '') !== entry?.stamp)
        this.#read(runId, unfinished.has(runId));
      await pause();
    }
    this.#isFirstRead = false;
  }

  #read(runId: string, isUnfinished: boolean): void {
    const stamp = this.#parts.archive.stampOf(runId) ?? '';
    const found = readHead(this.#parts.archive, runId, isUnfinished);
    if (found === null) return;
    const { head, isFinished, events } = found;
    const known = this.#entries.get(runId);
    this.#entries.set(runId, { head, isFinished, stamp });
    if (isFinished) this.recent.keep(head);
    if (isUnfinished && events !== null) this.#lifecycle.learn(runId, events, stamp);
    this.#number += 1;
    for (const look of this.#attended.get(runId) ?? []) look();
    // Most events are about steps.
    const isSame = known !== undefined && JSON.stringify(known.head) === JSON.stringify(head);
    if (!isSame && !this.#isFirstRead) this.#notify(runId, this.#list.fileOf(runId));
  }
}
