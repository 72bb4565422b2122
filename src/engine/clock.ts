/** Current time and timers. Tests replace it. */
export type Clock = {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Milliseconds since an arbitrary time. Setting the clock of the system, or suspending it, adds and takes nothing. */
  readonly elapsed: () => number;
  /** Calls back once at the given time, or soon if it has passed; returns a function that cancels the timer. */
  readonly setTimer: (at: number, callback: () => void) => () => void;
};

const maxTimeoutMs = 2 ** 31 - 1;

/** The system clock. A wait longer than the 24.8 days of a Node timer is split into several timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer: (at, callback) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = at - Date.now();
      timer = left > maxTimeoutMs ? setTimeout(arm, maxTimeoutMs) : setTimeout(callback, Math.max(0, left));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
