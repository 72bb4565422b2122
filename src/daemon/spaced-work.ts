import type { Clock } from '#system/clock.ts';

/** Work whose frequent requests are combined. */
export type SpacedWork = {
  /**
   * Asks for the work, which begins after this call. Requests before its beginning share one run of it. Resolves when that
   * is done, also if it has failed.
   */
  readonly ask: () => Promise<void>;
  /** Does what was asked for without a pause; resolves when it is done. */
  readonly close: () => Promise<void>;
};

/** The dependencies of spaced work. */
export type SpacedWorkParts = {
  readonly work: () => Promise<void>;
  /**
   * The shortest time between the beginnings of two runs of the work, of which only one runs at a time; read for each
   * run.
   */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};

/** Creates work that was not asked for yet. */
export function createSpacedWork(parts: SpacedWorkParts): SpacedWork {
  const { work, clock, report } = parts;
  let isClosing = false;
  let waiting: (() => void)[] = [];
  let beganAt = Number.NEGATIVE_INFINITY;
  let working: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  const begin = () => {
    cancelTimer = null;
    beganAt = clock.now();
    const served = waiting;
    waiting = [];
    working = work()
      .catch(report)
      .finally(() => {
        working = null;
        for (const resolve of served) resolve();
        if (waiting.length > 0) plan();
      });
  };
  const plan = () => {
    const pauseMs = isClosing ? 0 : parts.pauseMs;
    const wait = beganAt + pauseMs - clock.now();
    // A clock that was set back must not delay the work for long.
    if (wait <= 0 || wait > pauseMs) begin();
    else cancelTimer ??= clock.setTimer(clock.now() + wait, begin);
  };
  return {
    ask: () => {
      const done = new Promise<void>((resolve) => void waiting.push(resolve));
      if (working === null) plan();
      return done;
    },
    close: async () => {
      isClosing = true;
      cancelTimer?.();
      if (cancelTimer !== null) begin();
      while (working !== null) await working;
    },
  };
}
