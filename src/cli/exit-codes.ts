import type { CommanderError } from 'commander';
import { failedSteps, type RunSummary } from '#core/summary/summary.ts';
import { escapeControls } from '#render/text.ts';
import { views } from '#render/views.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import { errorCode, systemProblem, WfError } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import type { Console } from './terminal/console.ts';

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

/** The exit code for a run; `passes`: that of the first failed step whose failure was not tolerated. */
export function exitCodeOf(summary: RunSummary, signal: StopSignal | null, passes = false): number {
  switch (summary.status) {
    case 'succeeded':
    case 'partially_succeeded':
      return exitCodes.succeeded;
    case 'skipped':
      return exitCodes.preconditionNotMet;
    case 'canceled':
      return stopSignals[signal ?? 'SIGTERM'];
    case 'failed':
      if (summary.reason === 'timeout') return exitCodes.timedOut;
      return (passes ? firstFailedExitCode(summary) : null) ?? exitCodes.failed;
    case 'queued':
    case 'running':
    case 'canceling':
    case 'handling':
      return exitCodes.failed;
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

const STORAGE_HELP = 'set WF_HOME to a directory that can be written, or run with --no-history';

/** Prints an error, a `WfError` as a message and anything else as a bug with its stack; resolves to the exit code. */
export async function printError(error: unknown, { err, errTerminal }: Console): Promise<number> {
  if (isCommandLineError(error)) return error.exitCode === 0 ? exitCodes.succeeded : exitCodes.unusable;
  if (error instanceof InvalidWorkflow) {
    const { renderDiagnostics } = await views.diagnostics();
    const { color, unicode } = errTerminal;
    err.write(renderDiagnostics(error.diagnostics, error.sources, { color, unicode, cwd: process.cwd() }));
    return exitCodes.unusable;
  }
  if (error instanceof WfError) {
    const generalHelp = error.code === 'storage' ? STORAGE_HELP : undefined;
    const help = error.help ?? systemProblem(error)?.help ?? generalHelp;
    // Each problem of a list has its own line.
    const faults = error.code === 'invalid-params' ? error.message.split('\n') : [error.message];
    const lines = [...faults.map((fault) => `error: ${fault}`), ...(help === undefined ? [] : [`  help: ${help}`])];
    err.write(lines.map((line) => `${escapeControls(line)}\n`).join(''));
    return exitCodes.unusable;
  }
  const problem = systemProblem(error);
  if (problem !== null) {
    const help = problem.help === null ? '' : `  help: ${problem.help}\n`;
    err.write(`error: ${escapeControls(problem.message)}\n${help}`);
    return exitCodes.failed;
  }
  err.write(`wf: this is a bug in wf, please report it with these lines:\n${stackOf(error)}\n`);
  return exitCodes.failed;
}

/** Not by `instanceof`, which would load the parser of options for every command. */
function isCommandLineError(error: unknown): error is CommanderError {
  return /^commander[.]/.test(errorCode(error));
}
