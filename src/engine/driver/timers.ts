import type { Clock } from '#system/clock.ts';

/** Longest time that a finished run waits for its notices, in milliseconds. */
export const NOTIFY_TIMEOUT_MS = 30_000;

/** The timers of one run, cancelled with it. */
export class RunTimers {
  readonly #clock: Clock;
  readonly #pending = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls back once at the given time, with the current time; returns a function that cancels the timer. */
  at(time: number, then: (at: number) => void): () => void {
    const cancel = this.#clock.setTimer(time, () => {
      this.#pending.delete(cancel);
      then(this.#clock.now());
    });
    this.#pending.add(cancel);
    return cancel;
  }

  /** Cancels all timers. */
  clear(): void {
    for (const cancel of this.#pending) cancel();
  }
}

/** The timers of what becomes late: of the run (key null) and of its steps, by name. */
export class LateTimers {
  readonly #timers: RunTimers;
  readonly #pending = new Map<string | null, () => void>();

  constructor(timers: RunTimers) {
    this.#timers = timers;
  }

  /** Replaces a timer; `time` null: cancels it. */
  set(key: string | null, time: number | null, then: (at: number) => void): void {
    this.cancel(key);
    if (time !== null) this.#pending.set(key, this.#timers.at(time, then));
  }

  cancel(key: string | null): void {
    this.#pending.get(key)?.();
    this.#pending.delete(key);
  }

  /** Cancels all: the run has ended. */
  clear(): void {
    for (const cancel of this.#pending.values()) cancel();
    this.#pending.clear();
  }
}

/** The time limit of a run, which stands still while the run waits only for approvals. */
export class RunLimit {
  readonly #clock: Clock;
  readonly #timers: RunTimers;
  readonly #onEnd: () => void;
  #leftMs = 0;
  /** Null while the time stands still. */
  #since: number | null = null;
  #cancel: () => void = () => {};

  constructor(clock: Clock, timers: RunTimers, onEnd: () => void) {
    this.#clock = clock;
    this.#timers = timers;
    this.#onEnd = onEnd;
  }

  /** What is left of the time; 0: there is no limit. */
  get leftMs(): number {
    if (this.#leftMs <= 0) return 0;
    return Math.max(1, this.#leftMs - (this.#since === null ? 0 : this.#clock.elapsed() - this.#since));
  }

  /** Starts the time; 0: no limit. */
  start(limitMs: number): void {
    this.#leftMs = limitMs;
    if (limitMs > 0) this.#resume();
  }

  /** Stops the time, or continues it. */
  hold(isHeld: boolean): void {
    if (this.#leftMs <= 0 || isHeld === (this.#since === null)) return;
    if (isHeld) this.#pause();
    else this.#resume();
  }

  /** Ends the limit. */
  stop(): void {
    this.#cancel();
    this.#leftMs = 0;
  }

  #resume(): void {
    this.#since = this.#clock.elapsed();
    this.#cancel = this.#timers.at(this.#clock.now() + this.#leftMs, () => this.#onEnd());
  }

  #pause(): void {
    this.#cancel();
    this.#leftMs = this.leftMs;
    this.#since = null;
  }
}
