import { Option } from 'commander';
import { graphFormats } from '../../render/graph/graph-format.ts';
import type { AddCommand } from './add-command.ts';
import { operands } from './operands.ts';
import {
  append,
  choice,
  detachOption,
  outputOption,
  quietOption,
  reporterOption,
  runOptions,
  shellOnFailureOption,
  withCommon,
  withWorkflow,
  workflowArgument,
} from './options.ts';
import { withClientSettings } from './setting-options.ts';

/** `wf run`. */
export const addRun: AddCommand = (program, console, setExitCode, words) => {
  withClientSettings(withWorkflow(program.command('run').alias('start')))
    .description('run a workflow in the foreground')
    .addOption(reporterOption())
    .addOption(outputOption())
    .addOption(quietOption())
    .option('--run-id <id>', 'name the run; a run of that name is not started again')
    .addOption(detachOption())
    .option('--strict', 'failures that continueOn tolerates fail the run')
    .addOption(new Option('--no-strict').hideHelp())
    .option('-x, --exit-code', "exit with the first failed step's exit code")
    .addOption(new Option('--history').hideHelp())
    .option('--no-history', 'keep nothing of the run')
    .option('--dry-run', 'print the plan and run nothing')
    .option('--no-input', 'ask for nothing: parameters without a value are empty')
    .addOption(shellOnFailureOption())
    .option('--watch', 'run again whenever the files of the workflow change, until Ctrl-C')
    .option('--watch-path <glob>', 'with --watch: also when these files change (repeatable)', append)
    .action(async (name: string, rest: string[], options) => {
      const { runCommand } = await import('../commands/run.ts');
      setExitCode(await runCommand({ ...runOptions(options), ...operands(name, rest, words), name }, console));
    });
};

/** `wf dry`. */
export const addDry: AddCommand = (program, console, setExitCode, words) => {
  withWorkflow(program.command('dry'))
    .description('print what a run would do: its order, parameters, environment and commands')
    .option('--json', 'print JSON')
    .action(async (name: string, rest: string[], options) => {
      const { dryCommand } = await import('../commands/dry.ts');
      setExitCode(await dryCommand({ ...options, ...operands(name, rest, words), name }, console));
    });
};

/** `wf validate`. */
export const addValidate: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('validate').alias('lint'))
    .argument(
      '[file...]',
      'workflow files or directories, names, or - for standard input; default: the workflows directory',
    )
    .description('print every problem of the files, with its position')
    .addOption(choice('--format <format>', 'how problems are printed', ['pretty', 'json', 'github']).default('pretty'))
    .option('--json', 'the same as --format json')
    .action(async (names: string[], options) => {
      const { validateCommand } = await import('../commands/validate.ts');
      setExitCode(await validateCommand({ ...options, names }, console));
    });
};

/** `wf graph`. */
export const addGraph: AddCommand = (program, console, setExitCode) => {
  withCommon(program.command('graph'))
    .addArgument(workflowArgument())
    .description('draw the steps and what they depend on')
    .addOption(choice('--format <format>', 'what to draw it in', graphFormats).default('ascii'))
    .option('--json', 'the same as --format json')
    .action(async (name: string, options) => {
      const { graphCommand } = await import('../commands/graph.ts');
      setExitCode(await graphCommand({ ...options, name }, console));
    });
};
