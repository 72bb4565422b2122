import { Option } from 'commander';
import type { AddCommand } from './add-command.ts';
import { operands } from './operands.ts';
import {
  append,
  choice,
  count,
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

/** `wf list`. */
export const addList: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('list')))
    .description('list the workflows directory, with the last run of each workflow')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listCommand } = await import('../commands/list.ts');
      setExitCode(await listCommand(options, console));
    });
};

/** `wf status`. */
export const addStatus: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('status')))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .description('show a run step by step, whether it is going on or over')
    .option('--json', 'print JSON')
    .action(async (run: string | undefined, options) => {
      const { statusCommand } = await import('../commands/status.ts');
      setExitCode(await statusCommand({ ...options, run: run ?? null }, console));
    });
};

/** `wf history`. */
export const addHistory: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('history')))
    .argument('[workflow]', 'a workflow, by its name or file; all workflows when it is left out')
    .description('list past runs, newest first')
    .option('--status <status>', 'only runs of this status (failed, succeeded, ...; repeatable)', append)
    .option('--last <time>', 'only runs of the last 30m, 12h, 7d, 2w')
    .option('--from <time>', 'only runs since a day or time: 2026-03-01, 2026-03-01T10:30')
    .option('--to <time>', 'only runs until a day (included) or time')
    .option('--limit <count>', 'at most so many', count, 20)
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options) => {
      const { historyCommand } = await import('../commands/history.ts');
      setExitCode(await historyCommand({ ...options, name: name ?? null }, console));
    });
};

/** `wf logs`. */
export const addLogs: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('logs')))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .argument('[step]', 'a step or handler; all of them when it is left out')
    .description('print what the steps of a run have printed')
    .option('-f, --follow', 'go on until the run is over')
    .option('--tail <count>', 'only the last so many lines', count)
    .option('--attempt <number>', 'only this attempt at each step; else all, in order', count)
    .addOption(choice('--stream <stream>', 'only one of the two', ['stdout', 'stderr']))
    .option('--raw', 'as it was printed, with everything that controls a terminal')
    .option('--json', 'print one JSON object a line: step, attempt, stream, text')
    .action(async (run: string | undefined, step: string | undefined, options) => {
      const { logsCommand } = await import('../commands/logs.ts');
      setExitCode(await logsCommand({ ...options, run: run ?? null, step: step ?? null }, console));
    });
};

/** `wf retry`. */
export const addRetry: AddCommand = (program, console, setExitCode, words) => {
  withClientSettings(withParameters(withCommon(program.command('retry')).addArgument(runArgument('<run>'))))
    .description('run again what did not succeed, in a new run that keeps what did')
    .option('--req <id>', 'the run, where the argument names its workflow')
    .option('--step <name>', 'this step alone')
    .option('--from <name>', 'this step and everything after it')
    .option('--file', 'take the file as it is today')
    .addOption(reporterOption())
    .addOption(outputOption())
    .addOption(quietOption())
    .option('--run-id <id>', 'name the new run')
    .addOption(detachOption())
    .option('--strict', 'failures that continueOn tolerates fail the run')
    .addOption(new Option('--no-strict').hideHelp())
    .option('-x, --exit-code', "exit with the first failed step's exit code")
    .addOption(shellOnFailureOption())
    .action(async (run: string, rest: string[], options) => {
      const { retryCommand } = await import('../commands/retry.ts');
      setExitCode(await retryCommand({ ...runOptions(options), ...operands(run, rest, words), run }, console));
    });
};

/** `wf report`. */
export const addReport: AddCommand = (program, console, setExitCode) => {
  withLocalOnly(withCommon(program.command('report')))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .description('write a run as one HTML page: graph, timeline, logs, and the file it ran')
    .option('-o, --output <file>', 'where to write it, or - for standard output; else <workflow>-<run>.html')
    .action(async (run: string | undefined, options) => {
      const { reportCommand } = await import('../commands/report.ts');
      setExitCode(await reportCommand({ ...options, run: run ?? null }, console));
    });
};

/** `wf gc`. */
export const addGc: AddCommand = (program, console, setExitCode) => {
  withLocalOnly(withCommon(program.command('gc')))
    .argument('[workflow]', 'a workflow, by its name or file; all workflows when it is left out')
    .description('remove past runs that need not be kept, with their logs; never the last run of a workflow')
    .option('--keep <count>', 'keep so many of each workflow, whatever their age', count)
    .option('--older-than <time>', 'only runs older than 12h, 7d, 2w')
    .option('--dry-run', 'only tell what would be removed')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options) => {
      const { gcCommand } = await import('../commands/gc.ts');
      setExitCode(await gcCommand({ ...options, name: name ?? null }, console));
    });
};
