import { smallestIndex } from '../data/index-set.ts';
import { itemAt } from '../data/vector.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { letsDependentsRun } from './evolve-node.ts';
import type { RunState, StepState } from './run-state.ts';

/** Settles a step or handler; what `result` leaves out stays as the last attempt left it. */
export function settle(
  draft: Draft,
  at: number,
  { name, attempt, exitCode, signal, outputs }: StepState,
  result: Pick<AttemptResult, 'status' | 'message'> & Partial<AttemptResult>,
): void {
  record(draft, {
    type: 'step.finished',
    at,
    step: name,
    attempt,
    status: result.status,
    reason: result.reason ?? null,
    message: result.message,
    exitCode: result.exitCode === undefined ? exitCode : result.exitCode,
    signal: result.signal === undefined ? signal : result.signal,
    outputs: result.outputs ?? outputs,
  });
}

/**
 * Settles a step or handler that is not being attempted, because nothing more may start. One that waits for its next
 * repetition has done what it was asked for: it ends as its last repetition did.
 */
export function settleInactive(draft: Draft, at: number, step: StepState, why: string): void {
  const { reason, message } = step;
  const lastEnd = { status: reason === null ? ('succeeded' as const) : ('failed' as const), reason, message };
  settle(draft, at, step, step.waitingFor === 'repeat' ? lastEnd : { status: 'canceled', message: why });
}

/** Settles every step that its dependencies keep from running, and then those that this keeps from running. */
export function settleBlocked(draft: Draft, at: number): void {
  for (let next = smallestIndex(draft.run.blocked); next !== null; next = smallestIndex(draft.run.blocked)) {
    settle(draft, at, itemAt(draft.run.nodes, next), blockedResult(draft.run, next));
  }
}

/** The same whatever the order in which the dependencies settled. A failure further up is named where it happened. */
function blockedResult(run: RunState, index: number): Pick<AttemptResult, 'status' | 'message'> {
  const blocking = (run.graph.dependencies[index] ?? [])
    .filter((dependency) => !letsDependentsRun(run, dependency))
    .map((dependency) => itemAt(run.nodes, dependency));
  const failed = blocking.find(({ status }) => status !== 'skipped');
  if (failed === undefined) return { status: 'skipped', message: `"${blocking[0]?.name}" was skipped` };
  return { status: 'upstream_failed', message: upstreamMessage(failed) };
}

function upstreamMessage({ name, status, message }: StepState): string {
  if (status === 'upstream_failed') return message;
  return status === 'canceled' ? `"${name}" was canceled` : `"${name}" failed`;
}
