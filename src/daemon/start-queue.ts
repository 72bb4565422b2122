import type { Clock } from '../engine/clock.ts';
import { messageOf, WfError } from '../errors.ts';
import type { Carrier } from '../service/runs/launch-run.ts';
import type { AcceptedRun } from '../service/runs/run-desk.ts';
import { startCarrier } from '../service/runs/start-carrier.ts';

/** How much a daemon takes on. */
export type QueueLimits = {
  /** The most runs that go on at once. */
  readonly running: number;
  /** The most that wait. */
  readonly waiting: number;
};

/**
 * The runs that a daemon has promised to start, in the order in which they came. Only their order is kept in memory: that they
 * wait stands on the disk, where the next daemon finds it.
 */
export type StartQueue = {
  /** Accepts a run if there is room for one more. Throws a `WfError` `busy` where there is none, and what `accept` throws. */
  readonly admit: (accept: () => Promise<AcceptedRun>) => Promise<AcceptedRun>;
  readonly isFull: () => boolean;
  /** Has the run started once it is its turn. Adding one that is known changes nothing. */
  readonly add: (runId: string) => void;
  /** The run goes on in a process that this daemon has not started: it takes a place until `leave`. */
  readonly occupy: (runId: string) => void;
  /** The run is over, or does not wait any more. */
  readonly leave: (runId: string) => void;
  /** Nothing starts before. */
  readonly open: () => void;
  /** Nothing starts afterwards. */
  readonly close: () => void;
  /** How many wait. */
  readonly depth: () => number;
  /** Those that wait, in the order in which they start. */
  readonly waiting: () => readonly string[];
  /** The runs that take a place. */
  readonly running: () => readonly string[];
  /** Resolves when no run takes a place, or the signal is aborted. */
  readonly idle: (signal: AbortSignal) => Promise<void>;
};

/** What a queue works with. */
export type StartQueueParts = {
  readonly limits: QueueLimits;
  readonly clock: Clock;
  /** False for a run that is certainly over. */
  readonly mayGoOn: (runId: string) => boolean;
  /** Starts the process for a run. */
  readonly launch: (runId: string) => Carrier;
  /** Ends a run that cannot begin. */
  readonly refuse: (runId: string, message: string) => Promise<unknown>;
  readonly report: (error: unknown) => void;
};

/** A run that another process is just taking is left alone for so long. */
const leaveAloneMs = 5000;

/** A queue that is not open yet. */
export function createStartQueue(parts: StartQueueParts): StartQueue {
  return new LocalStartQueue(parts);
}

class LocalStartQueue implements StartQueue {
  readonly #parts: StartQueueParts;
  /** In the order in which they start. */
  readonly #waiting = new Set<string>();
  readonly #places = new Set<string>();
  /** Until when a run is not tried again. */
  readonly #leftAlone = new Map<string, number>();
  readonly #whenIdle = new Set<() => void>();
  /** Being written to the disk. */
  #admitted = 0;
  #isOpen = false;

  constructor(parts: StartQueueParts) {
    this.#parts = parts;
  }

  readonly admit = async (accept: () => Promise<AcceptedRun>): Promise<AcceptedRun> => {
    if (this.isFull()) throw this.#busy();
    this.#admitted += 1;
    try {
      return await accept();
    } finally {
      this.#admitted -= 1;
    }
  };

  readonly isFull = (): boolean => {
    const { running, waiting } = this.#parts.limits;
    const free = Math.max(0, running - this.#places.size);
    return this.#waiting.size + this.#admitted >= waiting + free;
  };

  readonly add = (runId: string): void => {
    if (this.#places.has(runId)) return;
    if (this.#parts.clock.now() < (this.#leftAlone.get(runId) ?? 0)) return;
    this.#leftAlone.delete(runId);
    this.#waiting.add(runId);
    this.#startNext();
  };

  readonly occupy = (runId: string): void => {
    this.#waiting.delete(runId);
    this.#places.add(runId);
  };

  readonly leave = (runId: string): void => {
    this.#waiting.delete(runId);
    this.#places.delete(runId);
    this.#startNext();
    if (this.#places.size === 0) for (const tell of this.#whenIdle) tell();
  };

  readonly open = (): void => {
    this.#isOpen = true;
    this.#startNext();
  };

  readonly close = (): void => {
    this.#isOpen = false;
  };

  readonly depth = (): number => this.#waiting.size;

  readonly waiting = (): readonly string[] => [...this.#waiting];

  readonly running = (): readonly string[] => [...this.#places];

  readonly idle = async (signal: AbortSignal): Promise<void> => {
    if (this.#places.size === 0 || signal.aborted) return;
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

  #startNext(): void {
    for (const runId of this.#waiting) {
      if (!this.#isOpen || this.#places.size >= this.#parts.limits.running) return;
      this.#waiting.delete(runId);
      // It may have been stopped by another process.
      if (!this.#mayGoOn(runId)) continue;
      this.#places.add(runId);
      void this.#begin(runId);
    }
  }

  /** Where the disk does not answer, the start will say why. */
  #mayGoOn(runId: string): boolean {
    try {
      return this.#parts.mayGoOn(runId);
    } catch {
      return true;
    }
  }

  async #begin(runId: string): Promise<void> {
    try {
      const isWanted = () => this.#isOpen && this.#places.has(runId) && this.#mayGoOn(runId);
      const carrier = await startCarrier(runId, { ...this.#parts, isWanted });
      if (carrier === null) this.leave(runId);
      else void carrier.ended.then(() => this.leave(runId));
    } catch (error) {
      await this.#giveUp(runId, error);
      this.leave(runId);
    }
  }

  /** Whoever else has the run carries it on; any other reason would be the same the next time, so it ends the run. */
  async #giveUp(runId: string, error: unknown): Promise<void> {
    const { clock, refuse, report } = this.#parts;
    const now = clock.now();
    for (const [other, until] of this.#leftAlone) if (until <= now) this.#leftAlone.delete(other);
    this.#leftAlone.set(runId, now + leaveAloneMs);
    if (error instanceof WfError && ['run-active', 'run-exists', 'not-found'].includes(error.code)) return;
    report(error);
    try {
      await refuse(runId, messageOf(error));
    } catch (failure) {
      report(failure);
    }
  }

  #busy(): WfError {
    return new WfError('busy', `${this.#waiting.size} runs wait already, and no more may`, {
      help: 'ask again later, or raise "maxQueuedRuns"',
    });
  }
}
