import { Argument, type Command, Option } from 'commander';
import { settings } from '#config/settings.ts';
import { type AddCommand, operands, workflowOperands } from './add-command.ts';
import { refuseRunOptions, withRunOptions } from './habits.ts';
import {
  append,
  choice,
  count,
  runArgument,
  runOptions,
  shellOnFailureOption,
  withAny,
  withClientSettings,
  withCommon,
  withEngine,
  withEngineRuns,
  withLocalOnly,
  withParameters,
  withPart,
  withReporter,
  withStart,
  withWorkflow,
} from './options.ts';

const ID_OF_RUN = 'the id of the run; if a run with that id exists, nothing is started';

/** `wf run`. */
export const addRun: AddCommand = (program, console, setExitCode, words) => {
  const overlap = 'what happens while another run of the workflow is active; the default is the "overlap" of the file';
  const named = withClientSettings(withWorkflow(program.command('run').alias('start')));
  withEngineRuns(withStart(withPart(named), ID_OF_RUN))
    .description('run a workflow in the foreground')
    .addOption(choice('--overlap <what>', overlap, ['skip', 'wait', 'allow']))
    .option('--strict', 'failures that continueOn tolerates fail the run')
    .addOption(new Option('--no-strict').hideHelp())
    .option('--strict-selectors', settings.strictSelectors.about)
    .option('-x, --exit-code', "exit with the first failed step's exit code")
    .addOption(new Option('--history').hideHelp())
    .option('--no-history', 'do not store the run')
    .option('--dry-run', 'print the plan and run nothing')
    .option('--no-input', 'do not prompt: parameters without a value stay empty')
    .addOption(new Option('--ask', 'prompt for every parameter that is not given').conflicts('dryRun'))
    .addOption(shellOnFailureOption())
    .addOption(
      new Option('--force [step]', 'run this step, or all steps, even if they are up to date (repeatable)').argParser(
        appendStep,
      ),
    )
    .option('--assume-up-to-date <step>', 'take the last success of this step as it is (repeatable)', append)
    .option('--no-cache', 'restore no earlier result of a step, and keep none')
    .option('--watch', 'run again whenever the files of the workflow change, until Ctrl-C')
    .option('--watch-path <glob>', 'with --watch: run again when these files change, too (repeatable)', append)
    .action(async (name: string | undefined, rest: string[], options) => {
      const { runCommand } = await import('../commands/runs/run-command.ts');
      const own = withoutWorkflow(name, options, words);
      const operands = workflowOperands(own.name, rest, words);
      setExitCode(await runCommand({ ...runOptions(own.options), ...operands }, console));
    });
};

function appendStep(step: string, before: true | readonly string[] | undefined): readonly string[] {
  return [...(Array.isArray(before) ? before : []), step];
}

/** In `wf run --force FILE`, the file is the workflow and no step. */
function withoutWorkflow<Options extends { readonly force?: true | readonly string[] }>(
  name: string | undefined,
  options: Options,
  words: readonly string[],
): { readonly name: string | undefined; readonly options: Options } {
  const { force } = options;
  const last = Array.isArray(force) ? force.at(-1) : undefined;
  if (name !== undefined || last === undefined || words.includes(`--force=${last}`)) return { name, options };
  const steps = (force as readonly string[]).slice(0, -1);
  return { name: last, options: { ...options, force: steps.length === 0 ? true : steps } };
}

/** `wf dry`. */
export const addDry: AddCommand = (program, console, setExitCode, words) => {
  withEngine(withPart(withWorkflow(program.command('dry'))))
    .description('print the plan of a run without running it')
    .option('--for <time>', 'the scheduled moment of the run; default: now')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, rest: string[], options) => {
      const { dryCommand } = await import('../commands/runs/dry-command.ts');
      setExitCode(await dryCommand({ ...options, ...workflowOperands(name, rest, words) }, console));
    });
};

/** `wf why`. */
export const addWhy: AddCommand = (program, console, _, words) => {
  const named = withCommon(program.command('why'))
    .argument('<workflow>', 'a workflow, by its name or file')
    .argument('<step>', 'a step with "sources"');
  withParameters(named)
    .description('print why a step would run, or that it is up to date')
    .option('--json', 'print JSON')
    .action(async (name: string, step: string, rest: string[], options) => {
      const { whyCommand } = await import('../commands/runs/why-command.ts');
      await whyCommand({ ...options, ...operands(name, rest, words), name, step }, console);
    });
};

/** `wf notify`. */
export const addNotify: AddCommand = (program, console, setExitCode, words) => {
  withWorkflow(program.command('notify'))
    .description('send a sample of each notification of a workflow')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, rest: string[], options) => {
      const { notifyCommand } = await import('../commands/runs/notify-command.ts');
      setExitCode(await notifyCommand({ ...options, ...workflowOperands(name, rest, words) }, console));
    });
};

/** `wf exec`. */
export const addExec: AddCommand = (program, console, setExitCode) => {
  program.enablePositionalOptions();
  withExecOptions(program.command('exec'))
    .argument('<command...>', 'a program and its arguments, exactly as given; no shell')
    .passThroughOptions()
    .description('run one command as a run, with logs and history')
    .action(async (words: string[], options) => {
      const { execCommand } = await import('../commands/runs/exec-command.ts');
      setExitCode(await execCommand({ ...options, words }, console));
    });
};

/** Adds the options of `wf exec`. */
export function withExecOptions(command: Command): Command {
  const named = withCommon(command)
    .option('--name <name>', 'the name of the workflow', 'exec')
    .option('--dir <dir>', 'the working directory of the command');
  return withReporter(named)
    .option('--run-id <id>', ID_OF_RUN)
    .option('--no-history', 'do not store the run')
    .addOption(shellOnFailureOption());
}

/** `wf stop`. */
export const addStop: AddCommand = (program, console) => {
  withRunOptions(withClientSettings(withAny(withCommon(program.command('stop')))))
    .addArgument(runArgument('<run>'))
    .description('stop a run and wait until it has ended')
    .option('--all', 'every active run of the workflow')
    .option('--force', 'kill at once, without handlers; a second stop does the same')
    .option('--no-wait', 'send the request and return at once')
    .option('--owner-gone', 'record the run as lost, if its process has ended and wf cannot check that from here')
    .option('--json', 'print the run as JSON; with --all a list of runs')
    .action(async (run: string, options) => {
      refuseRunOptions(options, 'stop');
      const { stopCommand } = await import('../commands/runs/control-commands.ts');
      await stopCommand({ ...options, run }, console);
    });
};

/** `wf retry`. */
export const addRetry: AddCommand = (program, console, setExitCode, words) => {
  const retry = program.command('retry');
  const chosen = withClientSettings(withParameters(withAny(withCommon(retry)).addArgument(runArgument('<run>'))))
    .description('run the steps that did not succeed again, in a new run')
    .option('--req <id>', 'the id of the run, if the argument names its workflow')
    .addOption(new Option('--request-id <id>').hideHelp())
    .option('--step <name>', 'run only this step')
    .option('--from <name>', 'run this step and everything that depends on it')
    .option('--file', 'use the current version of the workflow file');
  withEngineRuns(withStart(chosen, 'the id of the new run'))
    .option('--strict', 'failures that continueOn tolerates fail the run')
    .addOption(new Option('--no-strict').hideHelp())
    .option('-x, --exit-code', "exit with the first failed step's exit code")
    .addOption(shellOnFailureOption())
    .action(async (run: string, rest: string[], { requestId, ...options }) => {
      const { retryCommand } = await import('../commands/runs/retry-command.ts');
      const named = { req: requestId, ...runOptions(options), run };
      setExitCode(await retryCommand({ ...named, ...operands(run, rest, words) }, console));
    });
};

/** `wf restart`. */
export const addRestart: AddCommand = (program, console, setExitCode, words) => {
  const named = withAny(withCommon(program.command('restart'))).addArgument(runArgument('<run>'));
  withStart(withLocalOnly(withParameters(named)), 'the id of the new run')
    .description('stop a run and start its file again with the same parameters')
    .option('--strict', 'failures that continueOn tolerates fail the run')
    .option('-x, --exit-code', "exit with the first failed step's exit code")
    .action(async (run: string, rest: string[], options) => {
      const { restartCommand } = await import('../commands/runs/restart-command.ts');
      setExitCode(await restartCommand({ ...runOptions(options), ...operands(run, rest, words), run }, console));
    });
};

/** `wf backfill`. */
export const addBackfill: AddCommand = (program, console, setExitCode, words) => {
  withEngineRuns(withClientSettings(withWorkflow(program.command('backfill'))))
    .description('run a workflow for past moments of its schedule, and wait for the runs')
    .option('--from <time>', 'the first moment: a day or time in the time zone of the workflow')
    .option('--to <time>', 'the end, which is not included')
    .option('--every <cron>', 'the moments, instead of those of the file')
    .option('--max <count>', 'the most runs at once', count, 1)
    .addOption(choice('--rerun <which>', 'which moments run again although they have run', ['failed', 'all']))
    .option('--dry-run', 'print the moments and run nothing')
    .option('--yes', 'allow a range of more than 366 days')
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, rest: string[], options) => {
      const { backfillCommand } = await import('../commands/runs/backfill-command.ts');
      setExitCode(await backfillCommand({ ...options, ...workflowOperands(name, rest, words) }, console));
    });
};

/** `wf mark`. */
export const addMark: AddCommand = (program, console) => {
  withClientSettings(withAny(withCommon(program.command('mark'))))
    .addArgument(runArgument('<run>'))
    .argument('<step>', 'a step of the run')
    .addArgument(new Argument('<status>', 'the new status').choices(['succeeded', 'failed']))
    .description('set the status of a step of a finished run, for later retries')
    .option('--json', 'print the run as JSON')
    .action(async (run: string, step: string, status: 'succeeded' | 'failed', options) => {
      const { markCommand } = await import('../commands/runs/control-commands.ts');
      await markCommand({ ...options, run, step, status }, console);
    });
};

/** `wf approve`. */
export const addApprove: AddCommand = (program, console) => {
  withClientSettings(withAny(withCommon(program.command('approve'))))
    .addArgument(runArgument('<run>'))
    .argument('[step]', 'the step that waits, if several do')
    .description('approve a step that waits for approval')
    .option('-p, --param <NAME=value>', 'an input of the approval (repeatable)', append)
    .option('--comment <text>', 'a comment, stored with the answer')
    .option('--json', 'print the run as JSON')
    .action(async (run: string, step: string | undefined, options) => {
      const { answerCommand } = await import('../commands/runs/control-commands.ts');
      await answerCommand({ ...options, run, step, decision: 'approved' }, console);
    });
};

/** `wf reject`. */
export const addReject: AddCommand = (program, console) => {
  withClientSettings(withAny(withCommon(program.command('reject'))))
    .addArgument(runArgument('<run>'))
    .argument('[step]', 'the step that waits, if several do')
    .description('reject a step that waits for approval; it fails')
    .option('--reason <text>', 'the reason, stored with the answer')
    .option('--json', 'print the run as JSON')
    .action(async (run: string, step: string | undefined, { reason, ...options }) => {
      const { answerCommand } = await import('../commands/runs/control-commands.ts');
      await answerCommand({ ...options, run, step, decision: 'rejected', comment: reason }, console);
    });
};

/** `wf carry`, which other processes of `wf` start for runs in the background. */
export const addCarry: AddCommand = (program, console, setExitCode) => {
  program
    .command('carry', { hidden: true })
    .argument('<run>', 'a queued run')
    .requiredOption('--runs <dir>', 'the directory of all runs')
    .option('--report <descriptor>', 'report the start through this descriptor', Number)
    .action(async (runId: string, options) => {
      const { carryCommand } = await import('../run/carry.ts');
      setExitCode(await carryCommand({ ...options, runId }, console));
    });
};
