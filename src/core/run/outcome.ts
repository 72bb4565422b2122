import type { FailureReason, Outcome, Outputs, RunEvent, SettledStatus } from './run.ts';

/** Creates the outcome of an attempt that failed before or without an exit code of a program. */
export function failed(message: string): Outcome {
  return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
}

/** The result of an attempt; `outputs` is null if the outcome has none. */
export type AttemptResult = {
  readonly status: SettledStatus;
  readonly reason: FailureReason | null;
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly outputs: Outputs | null;
};

/** Converts every kind of outcome to one shape. */
export function attemptResult(outcome: Outcome): AttemptResult {
  const nothing = { reason: null, message: '', exitCode: null, signal: null, outputs: null };
  switch (outcome.status) {
    case 'succeeded':
      return { ...nothing, status: 'succeeded', exitCode: outcome.exitCode, outputs: outcome.outputs };
    case 'failed': {
      const { status, reason, message, exitCode, signal, outputs } = outcome;
      return { status, reason, message, exitCode, signal, outputs };
    }
    case 'skipped':
      return { ...nothing, status: 'skipped', message: outcome.message };
    case 'canceled': {
      const { status, message, exitCode, signal } = outcome;
      return { ...nothing, status, message, exitCode, signal };
    }
  }
}

/** The events that end an attempt. `step.finished` also follows one that has ended, after a wait. */
type AttemptEndType = 'step.waiting' | 'step.held' | 'step.finished';

/** Whether an event ends an attempt, so that no more output of it follows. */
export function endsAttempt<Event extends RunEvent>(event: Event): event is Extract<Event, { type: AttemptEndType }> {
  return event.type === 'step.waiting' || event.type === 'step.held' || event.type === 'step.finished';
}
