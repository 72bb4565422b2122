import type { FrameClock } from './frames.ts';

/** A regular sign of life for readers of a silent log. */
export type Heartbeat = {
  /** Call it after each write, which counts as a sign of life. */
  readonly wrote: () => void;
  /** Stops the heartbeat. */
  readonly stop: () => void;
};

/** Calls `beat` whenever nothing was written for the interval. */
export function createHeartbeat(clock: FrameClock, silenceMs: number, beat: () => void): Heartbeat {
  let wroteAt = clock.now();
  let cancel = () => {};
  const arm = () => {
    // A clock that was set back must not prolong the silence.
    wroteAt = Math.min(wroteAt, clock.now());
    cancel = clock.setTimer(wroteAt + silenceMs, () => {
      if (clock.now() >= wroteAt + silenceMs) {
        wroteAt = clock.now();
        beat();
      }
      arm();
    });
  };
  arm();
  return {
    wrote: () => {
      wroteAt = clock.now();
    },
    stop: () => cancel(),
  };
}
