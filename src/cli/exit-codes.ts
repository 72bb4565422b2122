import { failedSteps, type RunSummary } from '#core/summary/summary.ts';
import type { ErrorCode } from '#system/errors.ts';

/** The exit codes. 0 includes runs whose failures the workflow tolerates. */
export const exitCodes = {
  succeeded: 0,
  failed: 1,
  /** Bad usage, missing file or invalid workflow: nothing was run. */
  unusable: 2,
  preconditionNotMet: 3,
  timedOut: 124,
} as const;

/** Signals that stop a run, each with its exit code: 128 plus the number of the signal. */
export const stopSignals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A signal that stops a run. */
export type StopSignal = keyof typeof stopSignals;

/** The options that change the exit code. */
export type ExitOptions = {
  /** The exit code of the first failed step whose failure was not tolerated is passed through. */
  readonly passExitCode: boolean;
  /** The signal that stopped the run; null for any other stop, which counts as SIGTERM. */
  readonly signal: StopSignal | null;
};

/** The exit code for a finished run. */
export function exitCodeOf(summary: RunSummary, options: ExitOptions): number {
  switch (summary.status) {
    case 'succeeded':
    case 'partially_succeeded':
      return exitCodes.succeeded;
    case 'skipped':
      return exitCodes.preconditionNotMet;
    case 'canceled':
      return stopSignals[options.signal ?? 'SIGTERM'];
    case 'failed':
      if (summary.reason === 'timeout') return exitCodes.timedOut;
      return (options.passExitCode ? firstFailedExitCode(summary) : null) ?? exitCodes.failed;
    case 'queued':
    case 'running':
    case 'canceling':
    case 'handling':
      return exitCodes.failed;
  }
}

/** The exit code for an error before or outside a run. */
export function exitCodeOfError(code: ErrorCode): number {
  switch (code) {
    case 'usage':
    case 'invalid-params':
    case 'not-found':
    case 'invalid-workflow':
    case 'run-exists':
    case 'run-active':
    case 'not-built':
    case 'storage':
    case 'busy':
    case 'conflict':
    case 'denied':
    case 'forbidden':
    case 'unreachable':
      return exitCodes.unusable;
  }
}

function firstFailedExitCode(summary: RunSummary): number | null {
  const all = failedSteps(summary);
  const untolerated = all.filter(({ tolerated }) => tolerated === undefined);
  // Under --strict, tolerated failures alone fail a run.
  const failed = (untolerated.length > 0 ? untolerated : all)
    .filter(({ exitCode }) => exitCode !== null && exitCode !== 0)
    .sort((a, b) => (a.finishedAt ?? '').localeCompare(b.finishedAt ?? ''));
  // Failures of this run count before those of an earlier one.
  return (failed.find(({ attempts }) => attempts > 0) ?? failed[0])?.exitCode ?? null;
}
