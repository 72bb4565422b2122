import type { Clock } from '#system/clock.ts';

/** Work whose frequent requests are combined; one run of it at a time. */
export class SpacedWork {
  readonly #parts: SpacedWorkParts;
  #isClosing = false;
  #waiting: (() => void)[] = [];
  #beganAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(parts: SpacedWorkParts) {
    this.#parts = parts;
  }

  /** Asks for the work, which begins after this call, once for all requests before; resolves when it is done or failed. */
  readonly ask = (): Promise<void> => {
    const done = new Promise<void>((resolve) => void this.#waiting.push(resolve));
    if (this.#working === null) this.#plan();
    return done;
  };

  /** Does what was asked for without a pause; resolves when it is done. */
  readonly close = async (): Promise<void> => {
    this.#isClosing = true;
    this.#cancelTimer?.();
    if (this.#cancelTimer !== null) this.#begin();
    while (this.#working !== null) await this.#working;
  };

  #begin(): void {
    const { work, clock, report } = this.#parts;
    this.#cancelTimer = null;
    this.#beganAt = clock.now();
    const served = this.#waiting;
    this.#waiting = [];
    this.#working = work()
      .catch(report)
      .finally(() => {
        this.#working = null;
        for (const resolve of served) resolve();
        if (this.#waiting.length > 0) this.#plan();
      });
  }

  #plan(): void {
    const { clock } = this.#parts;
    const pauseMs = this.#isClosing ? 0 : this.#parts.pauseMs();
    const wait = this.#beganAt + pauseMs - clock.now();
    // A clock that was set back must not delay the work for long.
    if (wait <= 0 || wait > pauseMs) this.#begin();
    else this.#cancelTimer ??= clock.setTimer(clock.now() + wait, () => this.#begin());
  }
}

type SpacedWorkParts = {
  readonly work: () => Promise<void>;
  /** Returns the shortest time between the beginnings of two runs of the work. */
  readonly pauseMs: () => number;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};
