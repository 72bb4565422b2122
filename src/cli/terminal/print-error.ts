import type { CommanderError } from 'commander';
import { escapeControls } from '#render/text/sanitize.ts';
import { InvalidWorkflow } from '#service/workflows/invalid-workflow.ts';
import { type ErrorCode, systemProblem, WfError } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import { exitCodeOfError, exitCodes } from '../exit-codes.ts';
import type { Console } from './console.ts';

/** The default help for each kind of error. */
const generalHelp: Partial<Record<ErrorCode, string>> = {
  storage: 'set WF_HOME to a directory that can be written, or run with --no-history',
};

/**
 * Prints an error: a `WfError` as a message, anything else as a bug with its stack. Resolves to the exit code.
 */
export async function printError(error: unknown, { err, errTerminal }: Console): Promise<number> {
  if (isCommandLineError(error)) return error.exitCode === 0 ? exitCodes.succeeded : exitCodes.unusable;
  if (error instanceof InvalidWorkflow) {
    const { renderDiagnostics } = await import('#render/views/diagnostics.ts');
    const { color, unicode } = errTerminal;
    err.write(renderDiagnostics(error.diagnostics, error.sources, { color, unicode, cwd: process.cwd() }));
    return exitCodes.unusable;
  }
  if (error instanceof WfError) {
    const help = error.help ?? systemProblem(error)?.help ?? generalHelp[error.code];
    // Each problem of a list has its own line.
    const faults = error.code === 'invalid-params' ? error.message.split('\n') : [error.message];
    const lines = [...faults.map((fault) => `error: ${fault}`), ...(help === undefined ? [] : [`  help: ${help}`])];
    err.write(lines.map((line) => `${escapeControls(line)}\n`).join(''));
    return exitCodeOfError(error.code);
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
  return error instanceof Error && 'code' in error && /^commander[.]/.test(String(error.code));
}
