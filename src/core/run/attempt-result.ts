import type { FailureReason, Outcome, Outputs, SettledStatus } from './run.ts';

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
