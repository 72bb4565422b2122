import type { Clock } from '#system/clock.ts';
import type { RunTimers } from './run-timers.ts';

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
    this.#leftMs = Math.max(1, this.#leftMs - (this.#clock.elapsed() - (this.#since ?? 0)));
    this.#since = null;
  }
}
