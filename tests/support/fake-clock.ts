import type { Clock } from '#system/clock.ts';

/** A clock that tests advance. */
export type FakeClock = Clock & {
  /** Advances by milliseconds and calls due timers in order. */
  readonly advance: (ms: number) => void;
  /** Sets the clock of the system forward by milliseconds, or back: timers keep their remaining time. */
  readonly set: (ms: number) => void;
  /** The number of pending timers. */
  readonly pending: () => number;
};

/** Starts at 1,000,000. */
export function createFakeClock(): FakeClock {
  let now = 1_000_000;
  let setBy = 0;
  const timers = new Set<{ at: number; readonly callback: () => void }>();
  const due = (until: number) => [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    elapsed: () => now - setBy,
    setTimer: (at, callback) => {
      const timer = { at, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: (ms) => {
      const until = now + ms;
      for (let next = due(until); next; next = due(until)) {
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = until;
    },
    set: (ms) => {
      now += ms;
      setBy += ms;
      for (const timer of timers) timer.at += ms;
    },
    pending: () => timers.size,
  };
}
