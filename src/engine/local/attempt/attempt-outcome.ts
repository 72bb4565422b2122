import type { Outcome } from '#core/run/run.ts';
import { isAskedToEnd } from '#processes/end-signal.ts';
import { type AttemptOutput, isDeviceFull } from '../output/attempt-output.ts';
import type { AttemptContext } from './attempt-context.ts';

/** A program that cannot write its output cannot report why either, since its messages go to the same disk. */
export function withCause(outcome: Outcome, { log }: AttemptOutput): Outcome {
  if (outcome.status !== 'failed' || !log.isDirect || !isDeviceFull(log.stdoutPath)) return outcome;
  return { ...outcome, message: `${outcome.message} (no space is left on the device of its log)` };
}

/** An attempt that was ended reports the first cause of that, whatever it did last. */
export function afterEnd(outcome: Outcome, context: AttemptContext): Outcome {
  if (outcome.status === 'skipped' || !isAskedToEnd(context)) return outcome;
  const { signal, step } = context;
  if (signal.reason === 'unready') return outcome;
  const signalName = outcome.status === 'succeeded' ? null : outcome.signal;
  if (signal.reason === 'timeout') {
    const message = `timed out after ${formatSeconds(step.timeoutMs)}`;
    const outputs = outcome.status === 'canceled' ? {} : outcome.outputs;
    return { status: 'failed', reason: 'timeout', message, exitCode: outcome.exitCode, signal: signalName, outputs };
  }
  return { status: 'canceled', message: 'stopped', exitCode: outcome.exitCode, signal: signalName };
}

/** Formats a time limit in seconds, as in the workflow file: `2s`, `0.5s`. */
function formatSeconds(ms: number): string {
  return `${ms / 1000}s`;
}
