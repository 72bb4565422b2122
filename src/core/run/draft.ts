import { evolve } from './evolve.ts';
import type { RunEvent } from './run.ts';
import type { RunState } from './run-state.ts';

/**
 * The private working copy of one decision. Each event is applied to the state as it is recorded, so that the state
 * always matches the events, and the next decision starts from it.
 */
export type Draft = { run: RunState; readonly events: RunEvent[] };

export function record(draft: Draft, event: RunEvent): void {
  draft.run = evolve(draft.run, event);
  draft.events.push(event);
}
