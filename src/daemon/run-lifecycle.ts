import type { Owner, ProcessIdentity, StoredEvent } from '../core/run/run.ts';
import { isFinished, type Promised } from '../core/run/run-state.ts';
import type { Clock } from '../engine/clock.ts';
import type { History } from '../service/history/history.ts';
import { type PastRun, readPastRun } from '../service/history/past-run.ts';
import type { RunArchive } from '../store/store.ts';
import type { RunStamps } from './run-index.ts';

/**
 * Watches the runs of all processes: waiting, running and finished runs, and runs whose process has died, which it
 * settles.
 */
export type RunWatch = {
  /** Checks now, and then every second. */
  readonly open: () => Promise<void>;
  /** Returns the number of runs that a process runs. */
  readonly running: () => number;
  /** Stops all checks and resolves when the last has finished. */
  readonly close: () => Promise<void>;
};

/** Receives the observations of the watch. */
export type RunWatchListener = {
  /** A daemon has promised to start the run; called at every check. */
  readonly waits: (runId: string) => void;
  /** A process owns the run. `isOurs`: for a daemon. */
  readonly begun: (runId: string, isOurs: boolean) => void;
  /** The run has finished; called once, also for runs that finished between two daemons. */
  readonly over: (run: PastRun) => void;
  /** The process of the run died before the first step, and the run waits again. */
  readonly waitsAgain: (run: PastRun) => void;
  readonly gone: (runId: string) => void;
};

export type RunWatchParts = {
  readonly archive: RunArchive;
  readonly history: Pick<History, 'read'>;
  /** False only if the process is known to have ended. */
  readonly isAlive: (process: ProcessIdentity) => boolean;
  /** Whether the process belongs to another namespace or machine, where its pid has another meaning; absent: never. */
  readonly isElsewhere?: (process: ProcessIdentity) => boolean;
  readonly stamps: RunStamps;
  readonly clock: Clock;
  /** The runs whose finish is not reported yet, for the next watch. */
  readonly memory: { readonly read: () => readonly string[]; readonly write: (runIds: readonly string[]) => void };
  readonly listener: RunWatchListener;
  readonly report: (error: unknown) => void;
};

/** The known state of an unfinished run. */
type Watched =
  /** Its journal has no useful event yet. */
  | { readonly kind: 'new' }
  | { readonly kind: 'waiting'; readonly promise: Promised; readonly stamp: string }
  | { readonly kind: 'owned'; readonly owner: Owner }
  /** Its last event is being written or read. */
  | { readonly kind: 'ending' };

/** The interval between checks, within which a dead process is noticed. */
const lookMs = 1000;
/** A run directory may exist this long before its first event. */
const longestBirthMs = 5000;
/** The maximum time of checking runs per turn of the event loop. */
const sliceMs = 10;

/** Creates a watch; `open` starts it. */
export function createRunWatch(parts: RunWatchParts): RunWatch {
  return new LocalRunWatch(parts);
}

class LocalRunWatch implements RunWatch {
  readonly #parts: RunWatchParts;
  readonly #watched = new Map<string, Watched>();
  #known: ReadonlySet<string> = new Set();
  #listStamp: string | null = null;
  #remembered = '';
  #looking: Promise<void> = Promise.resolve();
  readonly #endings = new Set<Promise<void>>();
  /** The runs whose owners are being checked. */
  readonly #judging = new Set<string>();
  #takeBackTimer = () => {};
  #isClosed = false;

  constructor(parts: RunWatchParts) {
    this.#parts = parts;
  }

  readonly open = async (): Promise<void> => {
    const { archive, memory } = this.#parts;
    const left = new Set(memory.read());
    const ids = archive.list();
    const pause = slices();
    // The oldest first.
    for (const runId of [...ids].reverse()) {
      if (left.has(runId) || archive.mayGoOn(runId)) this.#watched.set(runId, { kind: 'new' });
      await pause();
    }
    this.#known = new Set(ids);
    await this.#look();
    this.#lookLater();
  };

  readonly running = (): number => [...this.#watched.values()].filter(({ kind }) => kind === 'owned').length;

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#takeBackTimer();
    await this.#looking;
    await Promise.all(this.#endings);
  };

  #lookLater(): void {
    const { clock, report } = this.#parts;
    if (this.#isClosed) return;
    this.#takeBackTimer = clock.setTimer(clock.now() + lookMs, () => {
      this.#looking = this.#look()
        .catch(report)
        .finally(() => this.#lookLater());
    });
  }

  async #look(): Promise<void> {
    this.#findNew();
    const pause = slices();
    for (const [runId, watched] of this.#watched) {
      if (this.#isClosed) return;
      try {
        this.#lookAt(runId, watched);
      } catch (error) {
        this.#parts.report(error);
      }
      await pause();
    }
    this.#remember();
  }

  #findNew(): void {
    const { archive, stamps, listener } = this.#parts;
    const stamp = stamps.ofList();
    if (stamp !== null && stamp === this.#listStamp) return;
    this.#listStamp = stamp;
    const ids = new Set(archive.list());
    for (const runId of [...ids].reverse()) if (!this.#known.has(runId)) this.#watched.set(runId, { kind: 'new' });
    for (const runId of this.#watched.keys()) {
      if (ids.has(runId)) continue;
      this.#watched.delete(runId);
      listener.gone(runId);
    }
    this.#known = ids;
  }

  #lookAt(runId: string, watched: Watched): void {
    switch (watched.kind) {
      case 'new':
        this.#read(runId);
        break;
      case 'waiting':
        if (this.#parts.stamps.ofRun(runId) === watched.stamp) this.#wait(runId, watched.promise);
        else this.#read(runId);
        break;
      case 'owned':
        this.#attend(runId, watched.owner);
        break;
      case 'ending':
        break;
    }
  }

  /** Reads only the events of a run; its workflow can be large and is not needed. */
  #read(runId: string): void {
    const { archive, stamps, clock, listener } = this.#parts;
    const stamp = stamps.ofRun(runId);
    const { events } = archive.readEvents(runId);
    const owner = ownerIn(events);
    const promise = promiseIn(events);
    if (events.some(({ type }) => type === 'run.finished')) {
      this.#end(runId);
    } else if (owner !== null) {
      this.#watched.set(runId, { kind: 'owned', owner });
      listener.begun(runId, promise?.lasting ?? false);
      this.#attend(runId, owner);
    } else if (promise !== null) {
      this.#watched.set(runId, { kind: 'waiting', promise, stamp });
      this.#wait(runId, promise);
    } else if (Math.abs(clock.now() - archive.timeOf(runId)) > longestBirthMs) {
      this.#end(runId);
    }
  }

  #wait(runId: string, promise: Promised): void {
    if (promise.lasting) this.#parts.listener.waits(runId);
    else if (!this.#parts.isAlive(promise.by)) this.#end(runId);
  }

  #attend(runId: string, owner: Owner): void {
    const { isAlive, isElsewhere, archive } = this.#parts;
    if (!isAlive(owner) || !archive.mayGoOn(runId)) this.#end(runId);
    else if (isElsewhere?.(owner)) this.#judge(runId);
  }

  /** Checks the owner of a run without waiting; an owner elsewhere is asked at each check. */
  #judge(runId: string): void {
    if (this.#judging.has(runId)) return;
    this.#judging.add(runId);
    const judging = this.#parts.archive
      .judgeOwner(runId)
      .then((verdict) => {
        if (verdict === 'gone' && !this.#isClosed && this.#watched.get(runId)?.kind === 'owned') this.#end(runId);
      })
      .catch(this.#parts.report)
      .finally(() => {
        this.#judging.delete(runId);
        this.#endings.delete(judging);
      });
    this.#endings.add(judging);
  }

  /** Settles a lost run in the background, since its remaining processes may take seconds to end. */
  #end(runId: string): void {
    this.#watched.set(runId, { kind: 'ending' });
    const ending = this.#tellEnd(runId)
      .catch((error) => {
        this.#parts.report(error);
        this.#watched.set(runId, { kind: 'new' });
      })
      .finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  async #tellEnd(runId: string): Promise<void> {
    const { archive, history, listener } = this.#parts;
    const found = readPastRun(archive, runId);
    const run = found === null || isFinished(found.state) ? found : await history.read(runId);
    if (run !== null && !isFinished(run.state) && archive.mayGoOn(runId)) {
      // Another process has claimed the run, or has just created it.
      this.#watched.set(runId, { kind: 'new' });
      if (found?.state.owner != null && run.state.promise !== null) listener.waitsAgain(run);
      return;
    }
    this.#watched.delete(runId);
    if (run !== null && isFinished(run.state)) listener.over(run);
    else listener.gone(runId);
  }

  #remember(): void {
    const runIds = [...this.#watched.keys()];
    const text = runIds.join('\n');
    if (text === this.#remembered) return;
    this.#parts.memory.write(runIds);
    this.#remembered = text;
  }
}

/** Returns the process that owns the run; null while the run waits for one. */
export function ownerIn(events: readonly StoredEvent[]): Owner | null {
  const last = events.findLast(({ type }) => type === 'run.owned' || type === 'run.queued');
  return last?.type === 'run.owned' ? last.owner : null;
}

function promiseIn(events: readonly StoredEvent[]): Promised | null {
  for (const event of events) if (event.type === 'run.queued') return { by: event.by, lasting: event.lasting };
  return null;
}

/** Returns a function that yields to the event loop after each slice of work. */
function slices(): () => Promise<void> {
  let end = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < end) return;
    await new Promise<void>((resolve) => void setImmediate(resolve));
    end = performance.now() + sliceMs;
  };
}
