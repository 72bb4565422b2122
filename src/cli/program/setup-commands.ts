import { Argument } from 'commander';
import { type Shell, shells } from '../complete/shells.ts';
import { templateNames } from '../templates.ts';
import type { AddCommand } from './add-command.ts';
import { choice, withCommon } from './options.ts';

/** `wf init`. */
export const addInit: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('init'))
    .argument('[file]', 'the file to write, or - for standard output', 'workflow.yaml')
    .description('write a commented first workflow that runs as it is')
    .addOption(choice('--template <name>', 'what to begin with', templateNames).default('basic'))
    .option('--list', 'print what there is to begin with, and write nothing')
    .option('--force', 'overwrite a file that is there')
    .option('--json', 'with --list: print JSON')
    .action(async (file: string, options) => {
      const { initCommand } = await import('../commands/init.ts');
      setExitCode(initCommand({ ...options, file }, console));
    });
};

/** `wf completion`. */
export const addCompletion: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('completion'))
    .addArgument(new Argument('<shell>', 'the shell').choices([...shells]))
    .description('print the script by which a shell completes commands, options, workflows, runs and steps')
    .action(async (shell: Shell) => {
      const { completionCommand } = await import('../complete/completion.ts');
      setExitCode(completionCommand(shell, console));
    });
};

/** `wf complete`, which completion scripts call. */
export const addComplete: AddCommand = (program, console, setExitCode) => {
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .option('--line <text>')
    .option('--word <text>')
    .action(async (words: string[], options) => {
      const { completeCommand } = await import('../complete/complete.ts');
      setExitCode(await completeCommand({ ...options, words }, program, console));
    });
};
