import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { evolve } from './evolve.ts';
import type { FinishedStatus, RunInput } from './run.ts';
import { type RunState, stepState } from './run-state.ts';
import { type Verdict, verdict, verdictOfSteps } from './verdict.ts';

type Mark = Extract<RunInput, { type: 'mark' }>;

/** Records how a user marked a step of a finished run, and the resulting status of the run. */
export function mark(draft: Draft, { at, step, status, by }: Mark): void {
  const { run } = draft;
  if (stepState(run, step).status === status) return;
  const event = { type: 'step.marked', at, step, status, by } as const;
  const marked = evolve(run, { ...event, run: presentVerdict(run) });
  record(draft, { ...event, run: verdictAfterMark(marked) });
}

/**
 * If every step is done, the run counts as one that was not ended early. Otherwise the status is computed again only
 * if the steps decided it: a run that was stopped, timed out or lost stays so.
 */
function verdictAfterMark(run: RunState): Verdict {
  const { counts, tolerated, graph, reason } = run;
  const done = counts.succeeded + counts.skipped + tolerated;
  if (done === graph.stepCount) return verdict({ ...run, cancellation: null });
  if (reason !== null && reason !== 'step' && reason !== 'handler') return presentVerdict(run);
  const judged = verdictOfSteps(run);
  return judged.message === '' ? { ...judged, message: notRunText(counts) } : judged;
}

/**
 * The message of a run whose failures were all marked as succeeded, but not the steps that those failures held back.
 */
function notRunText({ pending, upstream_failed }: RunState['counts']): string {
  const count = pending + upstream_failed;
  return count === 1 ? '1 step was not run' : `${count} steps were not run`;
}

function presentVerdict({ status, reason, message }: RunState): Verdict {
  // A finished run has a finished status.
  return { status: status as FinishedStatus, reason, message };
}
