import type { MessagePort } from 'node:worker_threads';
import { stackOf } from '#system/stack.ts';
import { exitCodes, stopSignals } from './exit-codes.ts';
import { plainRun } from './program/plain-run.ts';
import { findColor } from './terminal/color.ts';
import { type Console, createConsole } from './terminal/console.ts';
import { printError } from './terminal/print-error.ts';

// Node prints uncaught errors with positions of the bundle instead of the source.
process.on('uncaughtExceptionMonitor', (error) => {
  // A frozen error stays unchanged.
  if (error instanceof Error) Reflect.set(error, 'stack', stackOf(error));
});

/**
 * Runs the command line (without node and script) and resolves to the exit code. Every error is printed here, once:
 * a `WfError` as a message, anything else as a bug with its stack.
 */
export async function main(argv: readonly string[]): Promise<number> {
  if (!hasDirectory()) {
    createConsole(process.env, null).err.write(
      `error: the current directory no longer exists\n  help: cd to an existing directory\n`,
    );
    return exitCodes.unusable;
  }
  const console = createConsole(process.env, await findColor(argv, process.env));
  const exitCode = await execute(argv, console).catch((error: unknown) => printError(error, console));
  await Promise.all([console.out.drained(), console.err.drained()]);
  if (exitCode === stopSignals.SIGHUP) (await import('./terminal/closed-terminal.ts')).endByHangup();
  const isCut = console.out.hasFailed() && !carriesRuns.has(argv[0] ?? '');
  return isCut && exitCode === exitCodes.succeeded ? exitCodes.failed : exitCode;
}

/** Runs the command and resolves to its exit code. */
async function execute(argv: readonly string[], console: Console): Promise<number> {
  const run = plainRun(argv);
  if (run !== null) return (await import('./commands/runs/run-command.ts')).runCommand(run, console);
  const listed =
    argv.length > 0 ? null : await (await import('./commands/history/list-command.ts')).projectCommand(console);
  if (listed !== null) return listed;
  const { buildProgram, helpWords } = await import('./program.ts');
  const { refuseForeignCommand } = await import('./program/habits.ts');
  let exitCode: number = exitCodes.succeeded;
  const setExitCode = (code: number) => {
    exitCode = code;
  };
  const program = buildProgram(console, setExitCode, argv);
  refuseForeignCommand(argv, program);
  await program.parseAsync(helpWords(argv, program), { from: 'user' });
  return exitCode;
}

/** Does work for another thread of this process, see `bin/task-worker.js`. */
export async function answerTasks(port: MessagePort): Promise<void> {
  const thread = await import('#service/workflows/thread-tasks.ts');
  thread.answerTasks(port);
}

/** The current directory may have been removed; no relative path resolves there. */
function hasDirectory(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

/** Commands whose output is also stored and whose exit code reports the run; the result of any other command is its output. */
const carriesRuns = new Set(['run', 'start', 'retry', 'restart', 'exec']);
