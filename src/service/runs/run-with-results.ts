import type { StoredEvent } from '#core/run/run.ts';
import { isFinished, type RunState } from '#core/run/run-state.ts';
import type { History } from '../history/history.ts';
import type { PastRun } from '../history/past-run.ts';

/** After one of these, a retry has results of its own, and has recorded all those that it kept. */
const OWN_RESULTS: ReadonlySet<StoredEvent['type']> = new Set(['step.scheduled', 'step.answered', 'step.marked']);

/**
 * The finished run whose results a retry of `run` keeps: `run` itself, or, if it is a retry that ended before its first
 * attempt, the run that it retried. Such a retry was canceled, refused or killed before it recorded what it kept.
 */
export async function runWithResults(run: PastRun, { read }: Pick<History, 'read'>): Promise<PastRun> {
  const { retryOf } = run.state;
  if (
    retryOf === null ||
    run.stored === null ||
    !isCutShort(run.state) ||
    run.stored.events.some(({ type }) => OWN_RESULTS.has(type))
  )
    return run;
  const before = await read(retryOf);
  // A run is older than its retry, so the search ends; a removed one has no results.
  return before === null || !isFinished(before.state) ? run : runWithResults(before, { read });
}

/** A retry can also succeed without an attempt, if the run before it was lost after its last step. */
function isCutShort(state: RunState): boolean {
  return isFinished(state) && state.status !== 'succeeded' && state.status !== 'partially_succeeded';
}
