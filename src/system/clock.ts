import { readFileSync } from 'node:fs';
import { tryOr } from './errors.ts';

/** Current time and timers. Tests replace it. */
export type Clock = {
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Milliseconds since an arbitrary time. Setting the clock of the system, or suspending it, adds and takes nothing. */
  readonly elapsed: () => number;
  /** Calls back once at the given time, or soon if it has passed; returns a function that cancels the timer. */
  readonly setTimer: (at: number, callback: () => void) => () => void;
};

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The system clock. A wait longer than the 24.8 days of a Node timer is split into several timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => process.uptime() * 1000,
  setTimer: (at, callback) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = at - Date.now();
      timer = left > MAX_TIMEOUT_MS ? setTimeout(arm, MAX_TIMEOUT_MS) : setTimeout(callback, Math.max(0, left));
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** A smaller change of the clock is one of its usual corrections. */
const MIN_CHANGE_MS = 1000;

/** Notices that the system clock was set. The clock of a machine that was suspended has moved too, but was not set. */
export class ClockChanges {
  readonly #clock: Clock;
  #ahead: number;
  #suspended: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ahead = clock.now() - clock.elapsed();
    this.#suspended = suspendedMs();
  }

  /** Returns by how many milliseconds the clock was set since the last change; 0 if it was not. */
  take(): number {
    const ahead = this.#clock.now() - this.#clock.elapsed();
    const moved = ahead - this.#ahead;
    if (Math.abs(moved) < MIN_CHANGE_MS) return 0;
    const suspended = suspendedMs();
    const slept = suspended - this.#suspended;
    this.#ahead = ahead;
    this.#suspended = suspended;
    if (Number.isNaN(slept)) return Math.min(0, Math.round(moved));
    const change = Math.round(slept < MIN_CHANGE_MS ? moved : moved - slept);
    return Math.abs(change) < MIN_CHANGE_MS ? 0 : change;
  }
}

/**
 * Grows by the time that the machine is suspended: its uptime counts that, and the time of a process does not. Not a number
 * where the system does not say its uptime: there only a clock that is set back is noticed.
 */
function suspendedMs(): number {
  return (Number.parseFloat(tryOr('', () => readFileSync('/proc/uptime', 'latin1'))) - process.uptime()) * 1000;
}
