/** The time and its timers; tests put their own in its place. */
export type Clock = {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Calls back once at the given time, or soon when it has passed; the result takes the timer back. */
  readonly setTimer: (at: number, callback: () => void) => () => void;
};

const longestTimeoutMs = 2 ** 31 - 1;

/** The system's clock. Waits beyond the 24.8 days that a Node timer can hold are made in several steps. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (at, callback) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = at - Date.now();
      timer = left > longestTimeoutMs ? setTimeout(arm, longestTimeoutMs) : setTimeout(callback, Math.max(0, left));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
