import { Argument, type Command } from 'commander';
import type { AddCommand } from './add-command.ts';
import { operands } from './operands.ts';
import {
  detachOption,
  outputOption,
  quietOption,
  reporterOption,
  runArgument,
  runOptions,
  shellOnFailureOption,
  withCommon,
  withParameters,
} from './options.ts';
import { withClientSettings, withLocalOnly } from './setting-options.ts';

/** `wf stop`. */
export const addStop: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('stop')))
    .addArgument(runArgument('<run>'))
    .description('stop a run, whichever process runs it, and wait until it has ended')
    .option('--all', 'every run of the workflow that is going on')
    .option('--force', 'kill at once, without handlers; stopping a second time does the same')
    .option('--no-wait', 'only ask, and do not wait for the end')
    .option('--owner-gone', 'record a run as lost whose process is gone, where that cannot be seen from here')
    .option('--json', 'print the run as JSON; with --all a list of runs')
    .action(async (run: string, options) => {
      const { stopCommand } = await import('../commands/stop.ts');
      setExitCode(await stopCommand({ ...options, run }, console));
    });
};

/** `wf restart`. */
export const addRestart: AddCommand = (program, console, setExitCode, words) => {
  withLocalOnly(withParameters(withCommon(program.command('restart')).addArgument(runArgument('<run>'))))
    .description('stop a run, wait restartWaitSec, and start its file again with the same parameters')
    .addOption(reporterOption())
    .addOption(outputOption())
    .addOption(quietOption())
    .option('--run-id <id>', 'name the new run')
    .addOption(detachOption())
    .option('--strict', 'failures that continueOn tolerates fail the run')
    .option('-x, --exit-code', "exit with the first failed step's exit code")
    .action(async (run: string, rest: string[], options) => {
      const { restartCommand } = await import('../commands/restart.ts');
      setExitCode(await restartCommand({ ...runOptions(options), ...operands(run, rest, words), run }, console));
    });
};

/** `wf mark`. */
export const addMark: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('mark')))
    .addArgument(runArgument('<run>'))
    .argument('<step>', 'a step of the run')
    .addArgument(new Argument('<status>', 'how it counts from now on').choices(['succeeded', 'failed']))
    .description('say how a step of a finished run ended; a retry goes by that')
    .option('--json', 'print the run as JSON')
    .action(async (run: string, step: string, status: 'succeeded' | 'failed', options) => {
      const { markCommand } = await import('../commands/mark.ts');
      setExitCode(await markCommand({ ...options, run, step, status }, console));
    });
};

/** `wf exec`. */
export const addExec: AddCommand = (program, console, setExitCode) => {
  program.enablePositionalOptions();
  withExecOptions(program.command('exec'))
    .argument('<command...>', 'a program and its arguments, exactly as given; no shell')
    .passThroughOptions()
    .description('run one command as a run with output, logs and history; exit with its exit code')
    .action(async (words: string[], options) => {
      const { execCommand } = await import('../commands/exec.ts');
      setExitCode(await execCommand({ ...options, words }, console));
    });
};

/** What stands before the command of `wf exec`. */
export function withExecOptions(command: Command): Command {
  return withCommon(command)
    .option('--name <name>', 'what the workflow is called', 'exec')
    .option('--dir <dir>', 'where the command runs')
    .addOption(reporterOption())
    .addOption(outputOption())
    .option('--run-id <id>', 'name the run; a run of that name is not started again')
    .option('--no-history', 'keep nothing of the run')
    .addOption(shellOnFailureOption());
}

/** `wf carry`, which processes of `wf` start for runs that go on without them. */
export const addCarry: AddCommand = (program, console, setExitCode) => {
  program
    .command('carry', { hidden: true })
    .argument('<run>', 'a run that waits')
    .requiredOption('--runs <dir>', 'the directory of all runs')
    .option('--report', 'tell through descriptor 3 how it begins')
    .action(async (runId: string, options) => {
      const { carryCommand } = await import('../run/carry.ts');
      setExitCode(await carryCommand({ ...options, runId }, console));
    });
};
