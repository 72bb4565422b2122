import type { Clock } from '#system/clock.ts';

/** Lets a loop wait for work from several sources. */
export type PacedWakeups = {
  readonly wake: () => void;
  /** Resolves after the next call of `wake`, but not before the pause has passed; at once when the stream has ended. */
  readonly next: () => Promise<void>;
};

/** Wakes a loop at most once every `pauseMs`, until the signal is aborted. */
export function createPacedWakeups(signal: AbortSignal, clock: Clock, pauseMs: number): PacedWakeups {
  let isDue = false;
  let readyAt = clock.now();
  let cancelTimer: (() => void) | null = null;
  let resume: (() => void) | null = null;
  const go = () => {
    cancelTimer?.();
    cancelTimer = null;
    readyAt = clock.now() + pauseMs;
    isDue = false;
    resume?.();
    resume = null;
  };
  const goWhenReady = () => {
    if (resume === null || cancelTimer !== null) return;
    const now = clock.now();
    // A clock that was set back must not prolong the pause.
    if (now >= readyAt) go();
    else cancelTimer = clock.setTimer(Math.min(readyAt, now + pauseMs), go);
  };
  signal.addEventListener('abort', go, { once: true });
  return {
    wake: () => {
      isDue = true;
      goWhenReady();
    },
    next: () =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        resume = resolve;
        if (isDue) goWhenReady();
      }),
  };
}
