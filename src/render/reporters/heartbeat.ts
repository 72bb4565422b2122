import type { FrameClock } from './frames.ts';

/** A sign of life for those who watch a log that is silent. */
export type Heartbeat = {
  /** Something was written, which is a sign of life itself. */
  readonly wrote: () => void;
  /** No further beat. */
  readonly stop: () => void;
};

/** Calls `beat` whenever nothing was written for so long. */
export function createHeartbeat(clock: FrameClock, silenceMs: number, beat: () => void): Heartbeat {
  let wroteAt = clock.now();
  let cancel = () => {};
  const arm = () => {
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
