import { type HandlerKind, handlerName } from '../workflow.ts';
import type { CancelReason, FinishedStatus, RunEnd } from './run.ts';
import { type RunState, type StepState, stepState, steps } from './run-state.ts';

/**
 * The status of the run if everything that is left succeeds; handlers see it as `WF_STATUS`. Examines all steps, so it
 * is meant for the end of a run, not for each event.
 */
export function verdict(run: RunState): RunEnd {
  if (run.cancellation !== null) {
    const { reason, message } = run.cancellation;
    return { status: statusAfterCancel(reason), reason, message };
  }
  const ofSteps = verdictOfSteps(run);
  const kinds: readonly HandlerKind[] = run.graph.index.has(handlerName('init')) ? ['init'] : [];
  const handler = [...kinds, ...(run.handling?.handlers ?? [])].find((kind) => hasFailed(run, kind));
  if (handler === undefined || (ofSteps.status === 'failed' && handler !== 'init')) return ofSteps;
  return { status: 'failed', reason: 'handler', message: described(stepState(run, handlerName(handler)), 'handler') };
}

/** The workflow's handlers for a run that ends with this status, in the order in which they run. */
export function handlersFor(run: RunState, status: FinishedStatus): readonly HandlerKind[] {
  return [outcomeHandlers[status], 'exit' as const].filter((kind) => run.graph.index.has(handlerName(kind)));
}

const outcomeHandlers: { readonly [status in FinishedStatus]: HandlerKind } = {
  succeeded: 'success',
  partially_succeeded: 'success',
  skipped: 'success',
  failed: 'failure',
  canceled: 'cancel',
};

/** The status of a run canceled for this reason. */
export function statusAfterCancel(reason: CancelReason): FinishedStatus {
  return reason === 'stop' ? 'canceled' : 'failed';
}

/** The status by the steps alone, without regard to handlers and cancellation. */
export function verdictOfSteps(run: RunState): RunEnd {
  const { failed, canceled, upstream_failed } = run.counts;
  const tolerated = run.strict ? 0 : run.tolerated;
  if (failed - tolerated + canceled + upstream_failed > 0) {
    return { status: 'failed', reason: 'step', message: failureMessage(run) };
  }
  return { status: tolerated > 0 ? 'partially_succeeded' : 'succeeded', reason: null, message: '' };
}

/**
 * A step that was canceled although the run was not (its own sub-workflow was stopped) has failed the run. Failures of
 * restored steps are reported only if no step of this run failed.
 */
function failureMessage(run: RunState): string {
  const all = [...steps(run)];
  const [first, ...others] = all.filter((step) => !step.restored && isFailure(run, step));
  if (first === undefined) return keptMessage(all.filter((step) => step.restored && isUndone(run, step)));
  return others.length === 0 ? described(first, 'step') : `${others.length + 1} steps failed, first "${first.name}"`;
}

function keptMessage([first, ...others]: readonly StepState[]): string {
  if (first === undefined) return '';
  if (others.length === 0) return `step "${first.name}" did not succeed in an earlier run and was not rerun`;
  const count = others.length + 1;
  return `${count} steps did not succeed in an earlier run and were not rerun, first "${first.name}"`;
}

function hasFailed(run: RunState, kind: HandlerKind): boolean {
  return isFailure(run, stepState(run, handlerName(kind)));
}

function isUndone(run: RunState, step: StepState): boolean {
  return step.status === 'upstream_failed' || isFailure(run, step);
}

function isFailure(run: RunState, step: StepState): boolean {
  if (step.status === 'canceled') return true;
  return step.status === 'failed' && (run.strict || step.tolerated === null);
}

function described({ name, status, message }: StepState, kind: 'step' | 'handler'): string {
  const end = status === 'canceled' ? 'was canceled' : 'failed';
  return message === '' ? `${kind} "${name}" ${end}` : `${kind} "${name}" ${end}: ${message}`;
}
