/** A clock that tests advance; due timers are called on the way. */
export class ManualClock {
  #now: number;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  readonly now = () => this.#now;

  readonly setTimer = (at: number, callback: () => void) => {
    const timer = { at, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  /** Sets the clock of the system forward by milliseconds, or back: timers keep their remaining time. */
  set(ms: number): void {
    this.#now += ms;
    this.#timers = this.#timers.map(({ at, callback }) => ({ at: at + ms, callback }));
  }

  /** The number of pending timers. */
  pending(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }

  #next(end: number) {
    return this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
}
