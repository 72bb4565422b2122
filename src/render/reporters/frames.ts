/** The time and its timers; `setTimer` calls back once at the given time, and its result takes the timer back. */
export type FrameClock = {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  readonly setTimer: (at: number, callback: () => void) => () => void;
};

/** When to paint. */
export type Frames = {
  /** Something changed: paint soon. */
  readonly request: () => void;
  /** No further frame. */
  readonly stop: () => void;
};

const betweenFramesMs = 100;
const betweenTicksMs = 1000;

/** Paints at most ten times a second, and once a second without a request as long as `paint` says that time shows. */
export function createFrames(clock: FrameClock, paint: () => { readonly showsTime: boolean }): Frames {
  let paintedAt = clock.now();
  let next: { readonly at: number; readonly cancel: () => void } | null = null;
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
    request: () => schedule(Math.max(clock.now(), paintedAt + betweenFramesMs)),
    stop: () => {
      stopped = true;
      next?.cancel();
      next = null;
    },
  };
}
