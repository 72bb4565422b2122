import { waitMs } from './policies.ts';
import { type RunState, steps } from './run-state.ts';

/** The retries of a run by a daemon. */
export type AutoRetry = {
  /** The number of this retry; 0 for the first run. */
  readonly n: number;
  /** The maximum number of retries. */
  readonly limit: number;
  /** When the next retry is due, in milliseconds since the epoch; null if none follows. */
  readonly at: number | null;
};

/**
 * The retries of a run by a daemon; null if there are none: its workflow has no `retryPolicy`, or no daemon started it.
 * A retry follows a failed run, unless a person rejected a step.
 */
export function autoRetryOf(run: RunState): AutoRetry | null {
  const { autoRetry, status, finishedAt } = run;
  if (autoRetry === undefined) return null;
  const { n, limit } = autoRetry;
  const isRetried = status === 'failed' && n < limit && !isRejected(run);
  return { n, limit, at: isRetried && finishedAt !== null ? finishedAt + waitMs(autoRetry, n + 1) : null };
}

function isRejected(run: RunState): boolean {
  for (const { reason } of steps(run)) if (reason === 'rejected') return true;
  return false;
}
