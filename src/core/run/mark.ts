import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { evolve } from './evolve.ts';
import type { FinishedStatus, RunInput } from './run.ts';
import { type RunState, stepState } from './run-state.ts';
import { type Verdict, verdict, verdictOfSteps } from './verdict.ts';

type Mark = Extract<RunInput, { type: 'mark' }>;

/** Records what a person says about a step of a finished run, and what the run has come to by that. */
export function mark(draft: Draft, { at, step, status, by }: Mark): void {
  const { run } = draft;
  if (stepState(run, step).status === status) return;
  const event = { type: 'step.marked', at, step, status, by } as const;
  const marked = evolve(run, { ...event, run: presentVerdict(run) });
  record(draft, { ...event, run: verdictAfterMark(marked) });
}

/**
 * When nothing is left undone, the run counts as one that nobody ended early. While something is, only a run whose steps
 * decided its end is judged anew: one that was stopped, timed out or got lost stays that.
 */
function verdictAfterMark(run: RunState): Verdict {
  const { counts, tolerated, graph, reason } = run;
  const done = counts.succeeded + counts.skipped + tolerated;
  if (done === graph.stepCount) return verdict({ ...run, cancellation: null });
  if (reason !== null && reason !== 'step' && reason !== 'handler') return presentVerdict(run);
  const judged = verdictOfSteps(run);
  return judged.message === '' ? { ...judged, message: notRunText(counts) } : judged;
}

/** Every failure was marked away, but not what it kept from running. */
function notRunText({ pending, upstream_failed }: RunState['counts']): string {
  const count = pending + upstream_failed;
  return count === 1 ? '1 step was not run' : `${count} steps were not run`;
}

function presentVerdict({ status, reason, message }: RunState): Verdict {
  // A run that is over has the status of one.
  return { status: status as FinishedStatus, reason, message };
}
