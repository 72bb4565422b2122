import type { AddCommand } from './add-command.ts';
import { refuseRunOptions, withRunOptions } from './habits.ts';
import { append, choice, count, runArgument, withAny, withCommon } from './options.ts';
import { withClientSettings, withLocalOnly } from './setting-options.ts';

/** `wf list`. */
export const addList: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withCommon(program.command('list')))
    .description('list the workflows, each with its last run and the next scheduled start')
    .option('--tag <tag>', 'only workflows with this tag')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listWorkflowsCommand } = await import('../commands/history/list-command.ts');
      setExitCode(await listWorkflowsCommand(options, console));
    });
};

/** `wf status`. */
export const addStatus: AddCommand = (program, console, setExitCode) => {
  withRunOptions(withClientSettings(withAny(withCommon(program.command('status')))))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .description('show the steps of a run, running or finished')
    .option('--json', 'print JSON')
    .action(async (run: string | undefined, options) => {
      refuseRunOptions(options, 'status');
      const { statusCommand } = await import('../commands/history/status-command.ts');
      setExitCode(await statusCommand({ ...options, run: run ?? null }, console));
    });
};

/** `wf history`. */
export const addHistory: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withAny(withCommon(program.command('history'))))
    .argument('[workflow]', 'a workflow, by its name or file; default: all')
    .description('list past runs, newest first')
    .option('--status <status>', 'only runs with this status (failed, succeeded, ...; repeatable)', append)
    .option('--waiting', 'only runs in which a step waits for approval')
    .option('--queue <name>', 'only runs of this queue')
    .option('--tag <tag>', 'only runs of workflows with this tag')
    .option('--last <time>', 'only runs of the last 30m, 12h, 7d, 2w')
    .option('--from <time>', 'only runs since a day or time: 2026-03-01, 2026-03-01T10:30')
    .option('--to <time>', 'only runs until a day (included) or time')
    .option('--limit <count>', 'the maximum number of runs', count, 20)
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options) => {
      const { historyCommand } = await import('../commands/history/history-command.ts');
      setExitCode(await historyCommand({ ...options, name: name ?? null }, console));
    });
};

/** `wf logs`. */
export const addLogs: AddCommand = (program, console, setExitCode) => {
  withClientSettings(withAny(withCommon(program.command('logs'))))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .argument('[step]', 'a step or handler; default: all')
    .description('print the output of the steps of a run')
    .option('-f, --follow', 'follow the output until the run has ended')
    .option('--tail <count>', 'only the last lines', count)
    .option('--attempt <number>', 'only this attempt of each step (default: all, in order)', count)
    .addOption(choice('--stream <stream>', 'only this stream of a step with two logs', ['stdout', 'stderr']))
    .option('-t, --timestamps', 'print the time of each line before it, at most a quarter of a second late')
    .option('--raw', 'print the bytes unchanged, with terminal control sequences')
    .option('--json', 'print one JSON object per line: step, attempt, stream, text')
    .action(async (run: string | undefined, step: string | undefined, options) => {
      const { logsCommand } = await import('../commands/history/logs-command.ts');
      setExitCode(await logsCommand({ ...options, run: run ?? null, step: step ?? null }, console));
    });
};

/** `wf report`. */
export const addReport: AddCommand = (program, console, setExitCode) => {
  withLocalOnly(withAny(withCommon(program.command('report'))))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .description('write a report of a run, one HTML file: graph, timeline, logs, source')
    .option('-o, --output <file>', 'the file, or - for standard output (default: <workflow>-<run>.html)')
    .action(async (run: string | undefined, options) => {
      const { reportCommand } = await import('../commands/history/report-command.ts');
      setExitCode(await reportCommand({ ...options, run: run ?? null }, console));
    });
};

/** `wf gc`. */
export const addGc: AddCommand = (program, console, setExitCode) => {
  withLocalOnly(withAny(withCommon(program.command('gc'))))
    .argument('[workflow]', 'a workflow, by its name or file; default: all')
    .description('remove old runs with their logs; always keeps the last run of a workflow')
    .option('--keep <count>', 'runs to keep of each workflow, whatever their age', count)
    .option('--older-than <time>', 'only runs older than 12h, 7d, 2w')
    .option('--dry-run', 'print what would be removed, and remove nothing')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options) => {
      const { gcCommand } = await import('../commands/history/gc-command.ts');
      setExitCode(await gcCommand({ ...options, name: name ?? null }, console));
    });
};
