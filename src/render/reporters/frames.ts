/** A clock with timers; `setTimer` calls back once at the given time and returns a function that cancels the timer. */
export type FrameClock = {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  readonly setTimer: (at: number, callback: () => void) => () => void;
};

/** The scheduler of frames. */
export type Frames = {
  /** Requests a frame after a change. */
  readonly request: () => void;
  /** Delays frames until 300 ms have passed without a call: the size of a window that is being resized is not reported at once. */
  readonly hold: () => void;
  readonly isHeld: () => boolean;
  /** Stops painting. */
  readonly stop: () => void;
};

const betweenFramesMs = 100;
const betweenTicksMs = 1000;
const settlingMs = 300;

/** Paints at most ten times a second, and once a second without a request while `paint` returns that a time is visible. */
export function createFrames(clock: FrameClock, paint: () => { readonly showsTime: boolean }): Frames {
  let paintedAt = clock.now();
  let next: { readonly at: number; readonly cancel: () => void } | null = null;
  let heldUntil = 0;
  let stopped = false;

  const schedule = (at: number) => {
    if (stopped || (next !== null && next.at <= at)) return;
    next?.cancel();
    next = { at, cancel: clock.setTimer(at, frame) };
  };
  const frame = () => {
    next = null;
    if (stopped) return;
    paintedAt = clock.now();
    if (paint().showsTime) schedule(paintedAt + betweenTicksMs);
  };
  return {
    request: () => {
      const now = clock.now();
      // A clock that was set back must not delay the frame.
      schedule(Math.max(now, Math.min(paintedAt, now) + betweenFramesMs, Math.min(heldUntil, now + settlingMs)));
    },
    hold: () => {
      heldUntil = clock.now() + settlingMs;
      next?.cancel();
      next = null;
      schedule(heldUntil);
    },
    isHeld: () => heldUntil - settlingMs <= clock.now() && clock.now() < heldUntil,
    stop: () => {
      stopped = true;
      next?.cancel();
      next = null;
    },
  };
}
