import { itemAt } from '../data/vector.ts';
import { nodeAt } from '../graph.ts';
import { type Draft, record } from './draft.ts';
import type { Outcome } from './run.ts';
import { isActive, isServing, isSettled, type RunState, type StepState } from './run-state.ts';

/**
 * Ends services one after another once every other step is settled, dependents first. A workflow of services alone runs
 * until it is stopped or all have ended.
 */
export function endServices(draft: Draft, at: number): void {
  const { run } = draft;
  const { services, stepCount } = run.graph;
  const open = stepCount - run.settled;
  if (open > services.length || (services.length === stepCount && run.cancellation === null)) return;
  const left = services.filter((index) => !isSettled(itemAt(run.nodes, index)));
  const isDue = run.cancellation === null ? isServing : isActive;
  if (left.length < open || !left.every((index) => isDue(itemAt(run.nodes, index)))) return;
  if (left.some((index) => itemAt(run.nodes, index).isEnding)) return;
  const next = left.findLast((index) => openDependents(run, index).length === 0);
  if (next === undefined) return;
  const { name, attempt } = itemAt(run.nodes, next);
  record(draft, { type: 'step.ending', at, step: name, attempt });
}

/**
 * The outcome of an attempt at a service: one that was asked to end has succeeded if it was ready, however its program
 * ended. One that ends by itself has failed before it was ready, and while other steps need it.
 */
export function serviceOutcome(run: RunState, index: number, outcome: Outcome): Outcome {
  const state = itemAt(run.nodes, index);
  const { service } = nodeAt(run.graph, index);
  if (service === undefined || outcome.status === 'skipped') return outcome;
  if (state.isEnding && state.isReady && run.cancellation?.force !== true) {
    return { status: 'succeeded', exitCode: outcome.exitCode, outputs: {} };
  }
  const [dependent] = openDependents(run, index);
  if (outcome.status !== 'succeeded' || (state.isReady && dependent === undefined)) return outcome;
  const message = state.isReady ? `ended while "${dependent?.name}" needs it` : 'ended before it was ready';
  const reason = state.isReady ? 'exit' : 'unready';
  return { status: 'failed', reason, message, exitCode: outcome.exitCode, signal: null, outputs: outcome.outputs };
}

function openDependents(run: RunState, index: number): readonly StepState[] {
  const dependents = run.graph.dependents[index] ?? [];
  return dependents.map((dependent) => itemAt(run.nodes, dependent)).filter((step) => !isSettled(step));
}
