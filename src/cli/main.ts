import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findDirectories, findProjectFile } from '#config/directories.ts';
import { uses } from '#fast/accelerators.ts';
import { tryOr, unlessRefused } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import { exitCodes, printError, stopSignals } from './exit-codes.ts';
import { plainRun } from './program/plain-run.ts';
import { type Console, createConsole, endByHangup } from './terminal/console.ts';

// Node prints uncaught errors with positions of the bundle instead of the source.
process.on('uncaughtExceptionMonitor', (error) => {
  // A frozen error stays unchanged.
  if (error instanceof Error) Reflect.set(error, 'stack', stackOf(error));
});

/** Runs the command line (without node and script), prints every error once, and resolves to the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  // The current directory may have been removed; no relative path resolves there.
  if (!tryOr(false, () => process.cwd() !== '')) {
    createConsole(process.env, null).err.write(
      `error: the current directory no longer exists\n  help: cd to an existing directory\n`,
    );
    return exitCodes.unusable;
  }
  const console = createConsole(process.env, await findColor(argv, process.env));
  const exitCode = await execute(argv, console).catch((error: unknown) => printError(error, console));
  await Promise.all([console.out.drained(), console.err.drained()]);
  if (exitCode === stopSignals.SIGHUP) endByHangup();
  const isCut = console.out.hasFailed() && !carriesRuns.has(argv[0] ?? '');
  return isCut && exitCode === exitCodes.succeeded ? exitCodes.failed : exitCode;
}

async function execute(argv: readonly string[], console: Console): Promise<number> {
  const run = uses('plain-run') ? plainRun(argv) : null;
  if (run !== null) return (await import('./commands/runs/run-command.ts')).runCommand(run, console);
  if (argv.length === 0) {
    const { projectCommand } = await import('./commands/history/list-command.ts');
    if (await projectCommand(console)) return exitCodes.succeeded;
  }
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

// For `bin/task-worker.js`.
export { answerTasks } from '#service/workflows.ts';

/** Commands whose output is also stored and whose exit code reports the run; the result of any other command is its output. */
const carriesRuns = new Set(['run', 'start', 'retry', 'restart', 'exec']);

/** Before the arguments are parsed, whose errors are printed too; null if neither options, variables nor files say. */
async function findColor(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const own = await ownWords(argv);
  if (own.includes('--no-color')) return false;
  if (own.includes('--color')) return true;
  const forced = env['FORCE_COLOR'];
  const usual = forced !== undefined ? forced !== '0' && forced !== 'false' : env['NO_COLOR'] ? false : null;
  if (env['WF_COLOR']) return (await readColor(env)) ?? usual;
  return usual ?? (hasFiles(env) ? readColor(env) : null);
}

/** The arguments of `wf` itself: words after `--` are data, and words after the command of `wf exec` belong to it. */
async function ownWords(argv: readonly string[]): Promise<readonly string[]> {
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  return words[0] === 'exec' ? optionsOfExec(words) : words;
}

/** The words before the command of `wf exec`, without the values of options. */
async function optionsOfExec([, ...words]: readonly string[]): Promise<readonly string[]> {
  const { Command } = await import('commander');
  const { withExecOptions } = await import('./program/run-commands.ts');
  const { options } = withExecOptions(new Command());
  const takeValue = new Set(options.filter(({ required }) => required).map(({ long }) => long));
  const found: string[] = [];
  for (let at = 0; words[at]?.startsWith('-'); at++) {
    const word = words[at] ?? '';
    found.push(word);
    if (takeValue.has(word)) at++;
  }
  return found;
}

/** Most users have none of these files; checking for them loads nothing. */
function hasFiles(env: NodeJS.ProcessEnv): boolean {
  const { configDir } = findDirectories(env, process.cwd());
  const hasOwn = configDir !== null && existsSync(join(configDir, 'config.yaml'));
  return hasOwn || findProjectFile(process.cwd(), env) !== null;
}

/** An invalid setting is reported by the command that reads the settings, without colours. */
async function readColor(env: NodeJS.ProcessEnv): Promise<boolean | null> {
  const { openSettings } = await import('#config/config.ts');
  const asker = { env, cwd: process.cwd(), flags: {}, inProject: true };
  return unlessRefused(null, () => openSettings(asker).read('color').value);
}
