import type { Clock } from '#system/clock.ts';

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
