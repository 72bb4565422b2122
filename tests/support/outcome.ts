import type { Outcome, Outputs } from '#core/run/run.ts';

/** How an attempt ends that went well. */
export function success(outputs: Outputs = {}): Outcome {
  return { status: 'succeeded', exitCode: 0, outputs };
}

/** The outcome of a failed attempt; exit code 1 by default. */
export function failure(settings: Partial<Extract<Outcome, { status: 'failed' }>> = {}): Outcome {
  return { status: 'failed', reason: 'exit', message: 'exit 1', exitCode: 1, signal: null, outputs: {}, ...settings };
}

/** How an attempt ends whose precondition is not met. */
export function skip(message = 'precondition not met'): Outcome {
  return { status: 'skipped', message };
}

/** How an attempt ends that was asked to. */
export function canceled(): Outcome {
  return { status: 'canceled', message: 'stopped', exitCode: 143, signal: 'SIGTERM' };
}
