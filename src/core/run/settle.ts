import { smallestIndex } from '../data/index-set.ts';
import { itemAt } from '../data/vector.ts';
import { fanOutResult } from '../fan-out/fan-out-result.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import { isBlocking } from './evolve-node.ts';
import type { ToleratedBy } from './run.ts';
import { isLeftOut, type RunState, type StepState, stepNode } from './run-state.ts';

type StepResult = Pick<AttemptResult, 'status' | 'message'> &
  Partial<AttemptResult> & { readonly tolerated?: ToleratedBy | null };

/** Settles a step or handler; fields that `result` omits keep the values of the last attempt. */
export function settle(
  draft: Draft,
  at: number,
  { name, attempt, exitCode, signal, outputs }: StepState,
  result: StepResult,
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
    ...(result.tolerated === undefined || result.tolerated === null ? {} : { tolerated: result.tolerated }),
  });
}

/**
 * Settles a step or handler without a running attempt, because nothing more may start. A step that waits for its next
 * repetition has done its work: it ends as its last repetition did.
 */
export function settleInactive(draft: Draft, at: number, step: StepState, why: string): void {
  const end: StepResult =
    step.waitingFor === 'repeat' ? lastEnd(draft.run, step) : { status: 'canceled', message: why };
  settle(draft, at, step, end);
}

/** The end of a waiting step that makes no further attempt. */
export function lastEnd(run: RunState, { name, reason, message, tolerated }: StepState): StepResult {
  const isSuccess = reason === null || (tolerated !== null && stepNode(run, name).continueOn.markSuccess === true);
  return isSuccess ? { status: 'succeeded', message: '', tolerated } : { status: 'failed', reason, message, tolerated };
}

/**
 * Settles every fan-out whose instances have all ended and every step that its dependencies prevent from running, then
 * the steps that depend on those.
 */
export function settleDue(draft: Draft, at: number): void {
  for (let next = smallestIndex(draft.run.due); next !== null; next = smallestIndex(draft.run.due)) {
    const step = itemAt(draft.run.nodes, next);
    const result = step.instances === undefined ? blockedResult(draft.run, next) : fanOutResult(draft.run, step);
    settle(draft, at, step, result);
  }
}

/**
 * Independent of the order in which the dependencies settled. A failure further up is named after the step that
 * failed.
 */
function blockedResult(run: RunState, index: number): Pick<AttemptResult, 'status' | 'message'> {
  const blocking = blockers(run, index);
  const failed = blocking.find(({ status }) => status !== 'skipped');
  if (failed === undefined) return { status: 'skipped', message: `"${blocking[0]?.name}" was skipped` };
  return { status: 'upstream_failed', message: upstreamMessage(failed) };
}

/** The dependencies that hold a step back; those of a dependency that was left out in its place. */
function blockers(run: RunState, index: number): readonly StepState[] {
  const blocking = (run.graph.dependencies[index] ?? []).filter((dependency) => isBlocking(run, dependency));
  return blocking.flatMap((dependency) => {
    const step = itemAt(run.nodes, dependency);
    return isLeftOut(run, step) ? blockers(run, dependency) : [step];
  });
}

/** Returns why the dependents of this unsuccessful step do not run. */
export function upstreamMessage({ name, status, message }: StepState): string {
  if (status === 'upstream_failed') return message;
  return status === 'canceled' ? `"${name}" was canceled` : `"${name}" failed`;
}
