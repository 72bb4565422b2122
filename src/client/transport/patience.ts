import { setTimeout as pause } from 'node:timers/promises';
import { WfError } from '../../errors.ts';
import type { DaemonClient } from '../daemon-client.ts';

/** Patience with a daemon that is away, while something of it is followed. */
export type Patience = {
  /**
   * Resolves when it may be tried again. Throws the error itself when that would not help, or after too long; the signal's
   * reason when that is aborted.
   */
  readonly wait: (error: unknown, signal: AbortSignal) => Promise<void>;
  /** The daemon has answered. */
  readonly refresh: () => void;
};

/** Whoever waits is told when the daemon is missed, and when it is back. */
export function createPatience({ settings, limits, tell }: DaemonClient): Patience {
  let goneSince: number | null = null;
  let isTold = false;
  let pauseMs = limits.pauseMs;
  return {
    wait: async (error, signal) => {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      goneSince ??= performance.now();
      if (performance.now() - goneSince > limits.patienceMs) throw error;
      if (pauseMs > limits.pauseMs && !isTold) {
        isTold = true;
        tell(`${settings.url} is away; trying again`);
      }
      await pause(pauseMs, undefined, { signal });
      pauseMs = Math.min(pauseMs * 2, limits.longestPauseMs);
    },
    refresh: () => {
      if (isTold) tell(`${settings.url} is back`);
      goneSince = null;
      isTold = false;
      pauseMs = limits.pauseMs;
    },
  };
}

/** Whether it may come right by itself: a daemon that is away, starts again, or has too much to do. */
function isPassing(error: unknown): boolean {
  return error instanceof WfError && (error.code === 'unreachable' || error.code === 'busy');
}
