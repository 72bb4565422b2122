import { Argument } from 'commander';
import { type Shell, shells } from '../complete/shells.ts';
import { version } from '../version.ts';
import type { AddCommand } from './add-command.ts';
import { withCommon } from './options.ts';
import { withServerSettings } from './setting-options.ts';

/** `wf config`. */
export const addConfig: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('config'))
    .argument('[key]', 'a setting, such as maxConcurrentRuns; default: all')
    .description('print the settings, each with its value and its source')
    .option('--json', 'print JSON')
    .action(async (key: string | undefined, options) => {
      const { configCommand } = await import('../commands/setup/config-command.ts');
      setExitCode(configCommand({ ...options, key: key ?? null }, console));
    });
};

/** `wf doctor`. */
export const addDoctor: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('doctor'))
    .description('check which tools workflows can use, and how to install missing ones')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { doctorCommand } = await import('../commands/setup/doctor-command.ts');
      setExitCode(await doctorCommand(options, console));
    });
};

/** `wf completion`. */
export const addCompletion: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('completion'))
    .addArgument(new Argument('<shell>', 'the shell').choices([...shells]))
    .description('print the completion script of a shell')
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

/** `wf version`. */
export const addVersion: AddCommand = (program, console) => {
  withCommon(program.command('version'))
    .description('print the version')
    .option('--json', 'print JSON, with the versions of Node and V8 and the platform')
    .action(({ json }: { json?: true }) => {
      const { node, v8 } = process.versions;
      console.out.write(
        json ? `${JSON.stringify({ version, node, v8, platform: process.platform })}\n` : `${version}\n`,
      );
    });
};

/** `wf serve`. */
export const addServe: AddCommand = (program, console, setExitCode) => {
  withServerSettings(
    withCommon(program.command('serve').aliases(['server', 'start-all', 'scheduler']), '-d, --dags <dir>'),
  )
    .description('run the daemon: the web page, the REST API and the scheduler')
    .action(async (options) => {
      const { serveCommand } = await import('../commands/setup/serve-command.ts');
      setExitCode(await serveCommand(options, console));
    });
};
