import { buildGraph, type Graph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { initialRun, type RunState } from '#core/run/run-state.ts';
import { handlerName, type Workflow } from '#core/workflow.ts';

/** A run, reconstructed from its stored events. */
export type FoldedRun = {
  readonly state: RunState;
  /** Problems of the events, as sentences; empty if they are consistent. */
  readonly damage: readonly string[];
};

const noSteps = { steps: [], handlers: { success: null, failure: null, cancel: null, exit: null } };

/**
 * Folds the stored events. An event that does not fit the workflow is skipped and reported. If the workflow is lost
 * (null), only the state of the run as a whole is known. `before`: the state to which the events are added.
 */
export function foldRun(
  workflow: Workflow | null,
  events: readonly StoredEvent[],
  before: RunState = initialState(workflow),
): FoldedRun {
  let state = before;
  const unfit: StoredEvent[] = [];
  for (const event of events) {
    const next = evolveIfFit(state, event);
    if (next === null) unfit.push(event);
    else state = next;
  }
  return { state, damage: workflow === null ? [] : describe(unfit) };
}

function initialState(workflow: Workflow | null): RunState {
  return initialRun(buildGraph(workflow ?? noSteps), workflow ?? { maxActiveSteps: 0, delayMs: 0 });
}

/** Returns the run after one more event; null if the event does not fit the workflow or has an unknown type. */
export function evolveIfFit(state: RunState, event: StoredEvent): RunState | null {
  if (!concernsKnownSteps(event, state.graph)) return null;
  try {
    return evolve(state, event);
  } catch {
    return null;
  }
}

function concernsKnownSteps(event: StoredEvent, { index }: Graph): boolean {
  if (event.type === 'run.handling') return event.handlers.every((kind) => index.has(handlerName(kind)));
  return event.type === 'run.warned' || !('step' in event) || index.has(event.step);
}

function describe([first, ...others]: readonly StoredEvent[]): readonly string[] {
  if (first === undefined) return [];
  const count = others.length === 0 ? '' : ` and ${others.length} more`;
  return [`Event ${first.seq} ("${first.type}")${count} of its journal is not understood and is skipped.`];
}
