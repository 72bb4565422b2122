import type { AcceptedRun } from '#service/service.ts';
import { type Carrier, startCarrier } from '#service/start-runs.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, messageOf, tryOr, WfError } from '#system/errors.ts';
import { createSlots, type Turns } from '#system/turns.ts';
import { type RunLine, RunLines } from './start-lines.ts';

/** The limits of a daemon's queue. */
export type QueueLimits = {
  readonly running: number;
  readonly waiting: number;
  /** The maximum number of concurrent runs of a queue, by its name; 1 for any other. */
  readonly queues?: ReadonlyMap<string, number>;
  /** The maximum number of processes that are started at once, until they own their runs. Default: unlimited. */
  readonly starting?: number;
};

type StartQueueParts = {
  readonly limits: QueueLimits;
  readonly clock: Clock;
  /** False only if the run is known to have finished. */
  readonly mayGoOn: (runId: string) => boolean;
  readonly lineOf: (runId: string) => RunLine;
  /** Whether the run still waits for a carrier. False if a process owns it, even one that died: settling it decides. */
  readonly isWaiting: (runId: string) => boolean;
  /** Counts the guests that other programs have started by now. */
  readonly findGuests: () => Promise<void>;
  readonly launch: (runId: string) => Carrier;
  /** Decides when `launch` is called. */
  readonly takeTurn: Turns;
  readonly refuse: (runId: string, message: string) => Promise<unknown>;
  readonly report: (error: unknown) => void;
};

/** The pause before the next attempt to start a run that another process is claiming. */
const LEAVE_ALONE_MS = 5000;

/**
 * The runs that a daemon has promised to start, in order. The memory contains only the order: the promise is on the
 * disk, where the next daemon finds it.
 */
export class StartQueue {
  readonly #parts: StartQueueParts;
  /** Waiting runs in the order in which they start. */
  readonly #waiting = new Set<string>();
  readonly #slots = new Set<string>();
  /** The runs with a slot that no process owns yet, and the starts of their processes; null: none was started, or it died. */
  readonly #unowned = new Map<string, Promise<unknown> | null>();
  /** Runs of other programs, which start by themselves. */
  readonly #guests = new Set<string>();
  /** Running runs and guests that wait only for approvals. */
  readonly #held = new Set<string>();
  readonly #lines: RunLines;
  /** The earliest time of the next attempt to start a run. */
  readonly #leftAlone = new Map<string, number>();
  readonly #whenIdle = new Set<() => void>();
  /** The runs being written to the disk, and the number of requests for each. */
  readonly #admitted = new Map<string, number>();
  readonly #inSlot: ReturnType<typeof createSlots>;
  #isOpen = false;
  #guestsAre: 'unknown' | 'searched' | 'known' = 'unknown';

  constructor(parts: StartQueueParts) {
    this.#parts = parts;
    this.#lines = new RunLines(parts.lineOf, parts.limits.queues);
    this.#inSlot = createSlots(parts.limits.starting ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Accepts a run if the queue has room; until then `add` ignores it, since this process still owns it. Throws a `WfError`
   * `busy` if the queue is full, and the errors of `accept`.
   */
  readonly admit = async (runId: string, accept: () => Promise<AcceptedRun>): Promise<AcceptedRun> => {
    if (this.isFull()) {
      throw new WfError('busy', `${this.#waiting.size} runs are waiting, the maximum`, {
        help: 'retry later, or raise "maxQueuedRuns"',
      });
    }
    this.#admitted.set(runId, (this.#admitted.get(runId) ?? 0) + 1);
    try {
      return await accept();
    } finally {
      const others = (this.#admitted.get(runId) ?? 1) - 1;
      if (others === 0) this.#admitted.delete(runId);
      else this.#admitted.set(runId, others);
    }
  };

  readonly isFull = (): boolean => {
    const { running, waiting } = this.#parts.limits;
    const free = Math.max(0, running - this.#taken());
    return this.#waiting.size + this.#admitted.size >= waiting + free;
  };

  /** Queues a run. A known run is ignored. */
  readonly add = (runId: string): void => {
    if (this.#slots.has(runId) || this.#admitted.has(runId)) return;
    const pauseMs = (this.#leftAlone.get(runId) ?? 0) - this.#parts.clock.now();
    // A clock that was set back must not prolong the pause.
    if (pauseMs > 0 && pauseMs <= LEAVE_ALONE_MS) return;
    this.#leftAlone.delete(runId);
    this.#lines.add(runId);
    // Every waiting run is added again at each check of the index.
    if (this.#waiting.has(runId)) return;
    this.#waiting.add(runId);
    if (!this.#lines.isLow(runId)) this.#putLowLast();
    this.#startNext();
  };

  /** Whether a run waits for its turn. */
  readonly isQueued = (runId: string): boolean => this.#waiting.has(runId);

  /** Makes a waiting run the next one that starts; false if it does not wait. */
  readonly putFirst = (runId: string): boolean => {
    if (!this.#waiting.delete(runId)) return false;
    this.#lines.raise(runId);
    const others = [...this.#waiting];
    this.#waiting.clear();
    for (const each of [runId, ...others]) this.#waiting.add(each);
    return true;
  };

  /** Counts a run of a process that this daemon did not start, until `leave`. */
  readonly occupy = (runId: string): void => {
    this.#waiting.delete(runId);
    this.#slots.add(runId);
    this.#unowned.delete(runId);
    this.#lines.add(runId);
  };

  /** Counts a run that needs no slot in the queue that its workflow names, until `leave`. */
  readonly countGuest = (runId: string): void => {
    if (this.#lines.add(runId)?.queue != null) this.#guests.add(runId);
    else this.#lines.remove(runId);
  };

  /** Releases the slots of a run that waits only for approvals, and takes them again afterwards, even beyond a limit. */
  readonly hold = (runId: string, isHeld: boolean): void => {
    if (!isHeld) this.#held.delete(runId);
    else if (this.#slots.has(runId) || this.#guests.has(runId)) this.#held.add(runId);
    this.#startNext();
  };

  /** Removes a run that has finished or no longer waits. */
  readonly leave = (runId: string): void => {
    this.#waiting.delete(runId);
    this.#slots.delete(runId);
    this.#unowned.delete(runId);
    this.#guests.delete(runId);
    this.#held.delete(runId);
    this.#lines.remove(runId);
    this.#startNext();
    if (this.#slots.size === 0) for (const tell of this.#whenIdle) tell();
  };

  readonly open = (): void => {
    this.#isOpen = true;
    this.#startNext();
  };

  /** Stops starting runs. A run whose process was not started yet leaves its slot. */
  readonly close = (): void => {
    this.#isOpen = false;
    for (const [runId, launched] of this.#unowned) if (launched === null) this.leave(runId);
  };

  readonly depth = (): number => this.#waiting.size;

  /** Returns the limit of a queue, and the number of runs that wait in it. */
  readonly stateOf = (queue: string) => ({
    limit: this.#lines.limitOf(queue),
    waiting: [...this.#waiting].filter((runId) => this.#lines.queueOf(runId) === queue).length,
  });

  /** The waiting runs, in the order in which they start. */
  readonly waiting = (): readonly string[] => [...this.#waiting];

  /** The runs that take a slot. */
  readonly slots = (): readonly string[] => [...this.#slots].filter((runId) => !this.#held.has(runId));

  /** The runs that take a slot or wait only for approvals. */
  readonly running = (): readonly string[] => [...this.#slots];

  /** Resolves when a process owns the run or the signal is aborted; to false without a process, or without a slot. */
  readonly owned = async (runId: string, signal: AbortSignal): Promise<boolean> => {
    const launched = this.#unowned.get(runId) ?? null;
    if (launched !== null) await orAborted(launched, signal);
    return this.#slots.has(runId) && this.#unowned.get(runId) !== null;
  };

  /** Resolves when no run counts as running, or the signal is aborted. */
  readonly idle = async (signal: AbortSignal): Promise<void> => {
    if (this.#slots.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        this.#whenIdle.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#whenIdle.add(end);
      signal.addEventListener('abort', end);
    });
  };

  /** Runs of backfills wait for all others. */
  #putLowLast(): void {
    for (const runId of [...this.#waiting].filter((each) => this.#lines.isLow(each))) {
      this.#waiting.delete(runId);
      this.#waiting.add(runId);
    }
  }

  #taken(): number {
    return this.#held.size === 0 ? this.#slots.size : this.slots().length;
  }

  #startNext(): void {
    let free = this.#parts.limits.running - this.#taken();
    if (!this.#isOpen || this.#waiting.size === 0 || free <= 0) return;
    const queued = () => [...this.slots(), ...[...this.#guests].filter((runId) => !this.#held.has(runId))];
    const room = this.#lines.roomBeside(() => this.#slots, queued);
    for (const runId of this.#waiting) {
      if (!this.#isOpen || free <= 0) return;
      if (!room.fits(runId)) continue;
      if (this.#lines.queueOf(runId) !== null && this.#guestsAre !== 'known') {
        void this.#findGuests();
        // Its slot is not for a later run.
        free -= 1;
        continue;
      }
      this.#waiting.delete(runId);
      // Another process may have stopped the run. An error counts as true, since the start will report it.
      if (!tryOr(true, () => this.#parts.mayGoOn(runId))) continue;
      this.#slots.add(runId);
      this.#unowned.set(runId, null);
      room.take(runId);
      free -= 1;
      void this.#begin(runId);
    }
  }

  /** Starts the waiting runs of queues after the guests have been counted. */
  async #findGuests(): Promise<void> {
    if (this.#guestsAre === 'searched') return;
    this.#guestsAre = 'searched';
    await this.#parts.findGuests().catch(this.#parts.report);
    this.#guestsAre = 'known';
    this.#startNext();
    this.#guestsAre = 'unknown';
  }

  async #begin(runId: string): Promise<void> {
    try {
      const hasSlot = () => this.#isOpen && this.#slots.has(runId);
      const isWanted = () => hasSlot() && tryOr(true, () => this.#parts.isWaiting(runId));
      const inTurn = (attempt: () => Promise<Carrier>) =>
        this.#inSlot(() => this.#inTurn(() => (hasSlot() ? this.#launch(runId, attempt) : null)));
      const carrier = await startCarrier(runId, { ...this.#parts, isWanted, inTurn });
      if (carrier === null) this.leave(runId);
      else void carrier.ended.then(() => this.leave(runId));
    } catch (error) {
      await this.#giveUp(runId, error);
      this.leave(runId);
    }
  }

  async #launch(runId: string, attempt: () => Promise<Carrier>): Promise<Carrier> {
    const launched = attempt();
    const owned = launched.then(
      () => this.#unowned.delete(runId),
      () => this.#unowned.has(runId) && this.#unowned.set(runId, null),
    );
    this.#unowned.set(runId, owned);
    await owned;
    return launched;
  }

  #inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve) => this.#parts.takeTurn(() => resolve(work()), false));
  }

  /** Drops a run that another process owns; fails it for any other reason, which would recur. */
  async #giveUp(runId: string, error: unknown): Promise<void> {
    const { clock, refuse, report } = this.#parts;
    const now = clock.now();
    for (const [other, until] of this.#leftAlone) if (until <= now) this.#leftAlone.delete(other);
    this.#leftAlone.set(runId, now + LEAVE_ALONE_MS);
    if (failedAs(error, 'run-active', 'run-exists', 'not-found')) return;
    report(error);
    await refuse(runId, messageOf(error)).catch(report);
  }
}

/** Resolves with the work, which does not reject, or when the signal is aborted. */
function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return Promise.race([work, aborted]);
}
