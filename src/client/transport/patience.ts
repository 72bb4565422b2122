import { setTimeout as pause } from 'node:timers/promises';
import { WfError } from '#system/errors.ts';
import type { DaemonClient } from '../daemon-client.ts';

/** Waits for a daemon that does not answer, while a run is followed. */
export type Patience = {
  /**
   * Resolves when a retry is due. Throws the error itself if a retry would not help, or after too long; throws the
   * signal's reason if it is aborted.
   */
  readonly wait: (error: unknown, signal: AbortSignal) => Promise<void>;
  /** Notes that the daemon has answered. */
  readonly refresh: () => void;
};

/** Creates the waiting; `tell` receives a line when the daemon stops answering, and when it answers again. */
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
        tell(`${settings.url} does not answer; retrying`);
      }
      await pause(pauseMs, undefined, { signal });
      pauseMs = Math.min(pauseMs * 2, limits.longestPauseMs);
    },
    refresh: () => {
      if (isTold) tell(`${settings.url} answers again`);
      goneSince = null;
      isTold = false;
      pauseMs = limits.pauseMs;
    },
  };
}

/** Whether an error is temporary: the daemon does not answer, restarts, or is busy. */
function isPassing(error: unknown): boolean {
  return error instanceof WfError && (error.code === 'unreachable' || error.code === 'busy');
}
