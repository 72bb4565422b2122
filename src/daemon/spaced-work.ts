import type { Clock } from '../engine/clock.ts';

/** Work whose frequent requests are combined. */
export type SpacedWork = {
  /** Asks for the work, which begins after this call. Requests before its beginning share one run of it. */
  readonly ask: () => void;
  /** Does what was asked for without a pause; resolves when it is done. */
  readonly close: () => Promise<void>;
};

/** The dependencies of spaced work. */
export type SpacedWorkParts = {
  readonly work: () => Promise<void>;
  /** The shortest time between the beginnings of two runs of the work, of which only one runs at a time. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};

/** Creates work that was not asked for yet. */
export function createSpacedWork(parts: SpacedWorkParts): SpacedWork {
  const { work, clock, report } = parts;
  let pauseMs = parts.pauseMs;
  let isAsked = false;
  let beganAt = Number.NEGATIVE_INFINITY;
  let working: Promise<void> | null = null;
  let takeBackTimer: (() => void) | null = null;
  const begin = () => {
    takeBackTimer = null;
    isAsked = false;
    beganAt = clock.now();
    working = work()
      .catch(report)
      .finally(() => {
        working = null;
        if (isAsked) plan();
      });
  };
  const plan = () => {
    const wait = beganAt + pauseMs - clock.now();
    // A clock that was set back must not delay the work for long.
    if (wait <= 0 || wait > pauseMs) begin();
    else takeBackTimer ??= clock.setTimer(clock.now() + wait, begin);
  };
  return {
    ask: () => {
      isAsked = true;
      if (working === null) plan();
    },
    close: async () => {
      pauseMs = 0;
      takeBackTimer?.();
      if (takeBackTimer !== null) begin();
      while (working !== null) await working;
    },
  };
}
