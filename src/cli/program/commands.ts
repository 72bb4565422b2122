import { Argument, Option } from 'commander';
import { graphFormats } from '#render/data-views.ts';
import { defaultWorkflow } from '#service/workflows.ts';
import { readAsset, templateNames } from '../asset.ts';
import { version } from '../version.ts';
import type { AddCommand } from './add-command.ts';
import { refuseRunOptions, withRunOptions } from './habits.ts';
import {
  append,
  choice,
  count,
  runArgument,
  type Shell,
  shells,
  withAny,
  withClientSettings,
  withCommon,
  withEngine,
  withEngineRuns,
  withLocalOnly,
  withServerSettings,
  workflowArgument,
} from './options.ts';

/** `wf init`. */
export const addInit: AddCommand = (program, console) => {
  withCommon(program.command('init'))
    .argument('[file]', 'the file to write, or - for standard output', 'workflow.yaml')
    .description('write a first workflow, with comments, ready to run')
    .addOption(choice('--template <name>', 'the template', templateNames).default('basic'))
    .option('--list', 'print the templates, and write nothing')
    .option('--force', 'overwrite an existing file')
    .option('--json', 'with --list: print JSON')
    .action(async (file: string, options) => {
      const { initCommand } = await import('../commands/files/init-command.ts');
      initCommand({ ...options, file }, console);
    });
};

/** `wf validate`. */
export const addValidate: AddCommand = (program, console, setExitCode) => {
  withEngine(withCommon(program.command('validate').alias('lint')))
    .argument(
      '[file...]',
      'workflow files or directories, names, or - for standard input; default: the workflows directory',
    )
    .description('print every mistake in the files, each with its line and column')
    .addOption(choice('--format <format>', 'the output format', ['pretty', 'json', 'github']).default('pretty'))
    .option('--json', 'the same as --format json')
    .option('--strict', 'use of the output of a step that is not a dependency is an error')
    .option('--verbose', 'print also the warnings that files ignore')
    .action(async (names: string[], options) => {
      const { validateCommand } = await import('../commands/files/check-commands.ts');
      setExitCode(await validateCommand({ ...options, names }, console));
    });
};

/** `wf graph`. */
export const addGraph: AddCommand = (program, console) => {
  withCommon(program.command('graph'))
    .addArgument(workflowArgument())
    .description('draw the steps and their dependencies')
    .addOption(choice('--format <format>', 'the output format', graphFormats).default('ascii'))
    .option('--json', 'the same as --format json')
    .action(async (named: string | undefined, options) => {
      const name = named ?? defaultWorkflow(process.cwd(), 'graph');
      const { graphCommand } = await import('../commands/files/check-commands.ts');
      await graphCommand({ ...options, name }, console);
    });
};

/** `wf schema`. */
export const addSchema: AddCommand = (program, console) => {
  withCommon(program.command('schema'))
    .argument('[path]', 'a key, such as steps.retryPolicy or executor.http')
    .description('print the JSON Schema of workflow files, or the documentation of one key')
    .addOption(choice('--form <form>', 'the JSON Schema of files in the form of Dagu 2.15', ['dagu']))
    .option('--json', 'print the schema of the key')
    .action(async (path: string | undefined, options) => {
      const { schemaCommand } = await import('../commands/files/schema-command.ts');
      await schemaCommand({ ...options, path: path ?? null }, console);
    });
};

/** `wf convert`. */
export const addConvert: AddCommand = (program, console) => {
  withCommon(program.command('convert'))
    .argument('<workflow>', 'a file, a name from the workflows directory, or - for standard input')
    .description('write a file of Dagu or Blackdagger with the keys of wf, comments included')
    .option('-o, --output <file>', 'the file to write (default: standard output)')
    .option('--force', 'with --output: overwrite an existing file')
    .action(async (name: string, options) => {
      const { convertCommand } = await import('../commands/files/convert-command.ts');
      await convertCommand({ ...options, name }, console);
    });
};

/** `wf list`. */
export const addList: AddCommand = (program, console) => {
  withClientSettings(withCommon(program.command('list')))
    .description('list the workflows, each with its last run and the next scheduled start')
    .option('--tag <tag>', 'only workflows with this tag')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { listWorkflowsCommand } = await import('../commands/history/list-command.ts');
      await listWorkflowsCommand(options, console);
    });
};

/** `wf status`. */
export const addStatus: AddCommand = (program, console) => {
  withRunOptions(withClientSettings(withAny(withCommon(program.command('status')))))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .description('show the steps of a run, running or finished')
    .option('--json', 'print JSON')
    .action(async (run: string | undefined, options) => {
      refuseRunOptions(options, 'status');
      const { statusCommand } = await import('../commands/history/status-command.ts');
      await statusCommand({ ...options, run: run ?? null }, console);
    });
};

/** `wf history`. */
export const addHistory: AddCommand = (program, console) => {
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
      await historyCommand({ ...options, name: name ?? null }, console);
    });
};

/** `wf logs`. */
export const addLogs: AddCommand = (program, console) => {
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
      await logsCommand({ ...options, run: run ?? null, step: step ?? null }, console);
    });
};

/** `wf artifacts`. */
export const addArtifacts: AddCommand = (program, console) => {
  withClientSettings(withAny(withCommon(program.command('artifacts'))))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .argument('[names...]', 'a step; default: all. After "get": a run, and patterns of the listed files')
    .description('list the files that the steps of a run have kept; "wf artifacts get" writes them')
    .option('--to <dir>', 'with get: the directory, or - for standard output: one file, or several as tar (default: .)')
    .option('--force', 'with get: overwrite existing files')
    .option('--json', 'print JSON')
    .action(async (run: string | undefined, names: string[], options) => {
      const { artifactsCommand } = await import('../commands/history/artifacts-command.ts');
      await artifactsCommand({ ...options, run: run ?? null, names }, console);
    });
};

/** `wf report`. */
export const addReport: AddCommand = (program, console) => {
  withLocalOnly(withAny(withCommon(program.command('report'))))
    .addArgument(runArgument('[run]').default(undefined, 'the last run'))
    .description('write a report of a run, one HTML file: graph, timeline, logs, source')
    .option('-o, --output <file>', 'the file, or - for standard output (default: <workflow>-<run>.html)')
    .option('--with-artifacts', 'put the artifacts of at most 256 KiB into it, 16 MiB in all')
    .action(async (run: string | undefined, options) => {
      const { reportCommand } = await import('../commands/history/report-command.ts');
      await reportCommand({ ...options, run: run ?? null }, console);
    });
};

/** `wf locks`. */
export const addLocks: AddCommand = (program, console) => {
  withClientSettings(withCommon(program.command('locks')))
    .addArgument(new Argument('[action]', 'break: take a lock away from those that hold it').choices(['break']))
    .argument('[name]', 'with break: the lock')
    .description('list the locks in use, with their holders and those that wait')
    .option('--queue', 'with break: the name is that of a queue')
    .option('--run <run>', 'with break: only what this run holds (its id or the start of it)')
    .option('--yes', 'with break: do not ask')
    .option('--json', 'print JSON')
    .action(async (action: string | undefined, name: string | undefined, options) => {
      const { breakLockCommand, listLocksCommand } = await import('../commands/runs/locks-command.ts');
      if (action === undefined) await listLocksCommand(options, console);
      else await breakLockCommand({ ...options, name: name ?? null }, console);
    });
};

/** `wf gc`. */
export const addGc: AddCommand = (program, console, setExitCode) => {
  withLocalOnly(withAny(withCommon(program.command('gc'))))
    .argument('[workflow]', 'a workflow, by its name or file; default: all')
    .description('remove old runs with their logs; always keeps the last run of a workflow')
    .option('--keep <count>', 'runs to keep of each workflow, whatever their age', count)
    .option('--older-than <time>', 'only runs older than 12h, 7d, 2w')
    .addOption(new Option('--cache', 'remove no run, but the cached results of steps').conflicts(['keep', 'olderThan']))
    .addOption(
      new Option('--fingerprints', 'remove no run, but forget which steps are up to date').conflicts([
        'keep',
        'olderThan',
      ]),
    )
    .option('--dry-run', 'print what would be removed, and remove nothing')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options) => {
      const { gcCommand } = await import('../commands/history/gc-command.ts');
      setExitCode(await gcCommand({ ...options, name: name ?? null }, console));
    });
};

/** `wf config`. */
export const addConfig: AddCommand = (program, console) => {
  withCommon(program.command('config'))
    .argument('[key]', 'a setting, such as maxConcurrentRuns; default: all')
    .description('print the settings, each with its value and its source')
    .option('--json', 'print JSON')
    .action(async (key: string | undefined, options) => {
      const { configCommand } = await import('../commands/setup/config-command.ts');
      configCommand({ ...options, key: key ?? null }, console);
    });
};

/** `wf doctor`. */
export const addDoctor: AddCommand = (program, console) => {
  withEngine(withCommon(program.command('doctor')))
    .description('check which tools workflows can use, and how to install missing ones; with an engine, also that')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { doctorCommand } = await import('../commands/setup/doctor-command.ts');
      await doctorCommand(options, console);
    });
};

/** `wf completion`. */
export const addCompletion: AddCommand = (program, console) => {
  withCommon(program.command('completion'))
    .addArgument(new Argument('<shell>', 'the shell').choices([...shells]))
    .description('print the completion script of a shell')
    .action((shell: Shell) => console.out.write(readAsset(`completion/wf.${shell}`)));
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
export const addServe: AddCommand = (program, console) => {
  const command = program.command('serve').aliases(['server', 'start-all', 'scheduler']);
  withEngineRuns(withServerSettings(withCommon(command, '-d, --dags <dir>')))
    .description('run the daemon: the web page, the REST API and the scheduler')
    .action(async (options) => {
      const { serveCommand } = await import('../commands/setup/serve-command.ts');
      await serveCommand(options, console);
    });
};

/** `wf worker`. */
export const addWorker: AddCommand = (program, console, setExitCode) => {
  withEngine(withCommon(program.command('worker')))
    .option('--name <name>', 'the name of the worker; by default, of its machine and process')
    .option('--slots <count>', 'the most steps that it runs at once; by default, one for each core', count)
    .option('--labels <labels>', 'its labels, for the workerSelector of steps: gpu=true,os=linux')
    .option('--serve <labels>', 'one more combination of labels that it serves (repeatable)', append)
    .option('--dir <dir>', 'the directory for the files of its runs; by default, worker in the home of wf')
    .option('--drain <seconds>', 'how long running steps may continue after SIGTERM; by default 600', count)
    .description('run steps for the engine, until SIGTERM')
    .action(async (options) => {
      const { workerCommand } = await import('../commands/setup/worker-command.ts');
      setExitCode(await workerCommand(options, console));
    });
};

/** `wf workers`. */
export const addWorkers: AddCommand = (program, console) => {
  withEngine(withCommon(program.command('workers')))
    .option('--json', 'print JSON')
    .description('list the workers of an engine: their slots, and how many steps they run')
    .action(async (options) => {
      const { workersCommand } = await import('../commands/setup/workers-command.ts');
      await workersCommand(options, console);
    });
};

/** `wf worker-guard`: a worker starts it. */
export const addWorkerGuard: AddCommand = (program, _console, setExitCode) => {
  program.command('worker-guard', { hidden: true }).action(async () => {
    const { guardCommand } = await import('../commands/setup/worker-command.ts');
    setExitCode(await guardCommand());
  });
};
