import { evolve } from './evolve.ts';
import type { RunEvent } from './run.ts';
import type { RunState } from './run-state.ts';

/**
 * The private working copy of one decision. Events are folded as they are recorded, so that the decision's state is the
 * fold of its events, and what is decided next is decided on that state.
 */
export type Draft = { run: RunState; readonly events: RunEvent[] };

export function record(draft: Draft, event: RunEvent): void {
  draft.run = evolve(draft.run, event);
  draft.events.push(event);
}
