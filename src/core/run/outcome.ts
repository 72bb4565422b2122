import type { Ended, Outcome, Outputs, RunEvent, SettledStatus, ToleratedBy } from './run.ts';

/** Creates the outcome of an attempt that failed before or without an exit code of a program. */
export function failed(message: string): Outcome {
  return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
}

/** The result of an attempt; `outputs` is null if the outcome has none. */
export type AttemptResult = Ended & { readonly status: SettledStatus; readonly outputs: Outputs | null };

/** The result of the last attempt, and what tolerates its failure. */
export type StepEnd = AttemptResult & { readonly tolerated: ToleratedBy | null };

/** Converts every kind of outcome to one shape. */
export function attemptResult(outcome: Outcome): AttemptResult {
  return { reason: null, message: '', exitCode: null, signal: null, outputs: null, ...outcome };
}

/** The events that end an attempt. `step.finished` also follows one that has ended, after a wait. */
type AttemptEndType = 'step.waiting' | 'step.held' | 'step.finished';

/** Whether an event ends an attempt, so that no more output of it follows. */
export function endsAttempt<Event extends RunEvent>(event: Event): event is Extract<Event, { type: AttemptEndType }> {
  return event.type === 'step.waiting' || event.type === 'step.held' || event.type === 'step.finished';
}

/** A text that identifies an attempt in its run. */
export function attemptKey({ step, attempt }: { readonly step: string; readonly attempt: number }): string {
  return `${attempt} ${step}`;
}
