import type { Outcome } from './run.ts';

/** Creates the outcome of an attempt that failed before or without an exit code of a program. */
export function failed(message: string): Outcome {
  return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
}
