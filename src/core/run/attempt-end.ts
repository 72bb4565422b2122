import type { RunEvent } from './run.ts';

/** The events that end an attempt. `step.finished` also follows one that has ended, after a wait. */
type AttemptEndType = 'step.waiting' | 'step.held' | 'step.finished';

/** Whether an event ends an attempt, so that no more output of it follows. */
export function endsAttempt<Event extends RunEvent>(event: Event): event is Extract<Event, { type: AttemptEndType }> {
  return event.type === 'step.waiting' || event.type === 'step.held' || event.type === 'step.finished';
}
