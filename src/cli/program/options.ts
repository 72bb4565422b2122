import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { type Setting, type SettingUser, settings } from '#config/settings.ts';
import { outputModes } from '#render/reporters.ts';
import { approvalModes } from '../run/parameters.ts';

/** The arguments and options of commands that take a workflow with parameters. */
export function withWorkflow(command: Command): Command {
  return withParameters(withCommon(command).addArgument(workflowArgument()));
}

/** The options for parameters. */
export function withParameters(command: Command): Command {
  return command
    .argument('[params...]', 'parameters, after --: A=1 two')
    .option('--params <text>', 'parameters as one text: "A=1 B=\'x y\'"')
    .option('-p, --param <NAME=value>', 'one parameter, taken unchanged (repeatable)', append)
    .option('--params-file <file>', 'NAME=value lines, or a map in JSON or YAML')
    .option('--env-file <file>', 'a dotenv file, read after those of the workflow (repeatable)', append);
}

/** The options that select a part of a workflow. */
export function withPart(command: Command): Command {
  return command
    .option('--only <steps>', 'only these steps, and all that they need: build,test (repeatable)', append)
    .option('--skip <steps>', 'all but these steps; their dependents run without them (repeatable)', append);
}

/** The options of every command. */
export function withCommon(command: Command, dags = '--dags <dir>'): Command {
  return command
    .option(dags, 'the workflows directory')
    .option('--color', 'colours, even without a terminal')
    .option('--no-color', 'no colours');
}

/** The argument that names a workflow. */
export function workflowArgument(): Argument {
  const about = 'a file, a name from the workflows directory, or - for standard input';
  return new Argument('[workflow]', about).default(undefined, 'workflow.yaml or the only one here');
}

/** The argument that names a run. */
export function runArgument(name: string): Argument {
  return new Argument(name, 'a run (its id or the start of it, @latest, @failed), or a workflow for its last run');
}

/** Adds `--any`: a name matches the runs of any file, not only of the file here. */
export function withAny(command: Command): Command {
  return command.option('--any', 'runs of any file, also where a file here has the name');
}

/** Reads an option that is a whole number. */
export function count(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not a whole number.');
}

/** The options for how progress is shown, and for the files that are written at the end. */
export function withReporter(command: Command): Command {
  const kinds = 'tree, plain, github, json or quiet, and the files junit=FILE and summary=FILE';
  return command
    .option('--reporter <kind>', `how progress is shown: ${kinds} (repeatable, or with commas)`, append)
    .addOption(choice('--output <what>', 'how much output of a finished step stays on a terminal', outputModes));
}

/** The options of commands that start a run of a workflow; `id`: what `--run-id` names. */
export function withStart(command: Command, id: string): Command {
  const detach = new Option('--detach', 'start it in the background, print its id, and do not wait for it');
  const onApproval = 'what happens at a step that waits for approval; in CI the default is reject';
  return withReporter(command)
    .option('-q, --quiet', 'the same as --reporter quiet')
    .option('--run-id <id>', id)
    .addOption(detach.conflicts(['reporter', 'exitCode', 'dryRun', 'watch', 'shellOnFailure']))
    .addOption(choice('--on-approval <what>', onApproval, approvalModes));
}

/** Returns the options of a run with the short forms replaced by the long ones. */
export function runOptions<T extends { readonly reporter?: readonly string[]; readonly quiet?: true }>(options: T): T {
  return options.quiet ? { ...options, reporter: append('quiet', options.reporter) } : options;
}

/** The option that opens a shell in place of a failed step. */
export function shellOnFailureOption(): Option {
  const what = "after a failed run, open a shell with the failed step's directory and environment";
  return new Option('--shell-on-failure', what);
}

/** An option with a few values. */
export function choice(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices([...choices]);
}

/** Collects the values of a repeatable option. */
export function append(value: string, list: readonly string[] = []): readonly string[] {
  return [...list, value];
}

const serverUsers: readonly SettingUser[] = ['wf serve', 'wf serve and clients'];
const clientUsers: readonly SettingUser[] = ['clients', 'wf serve and clients'];
const engineUsers: readonly SettingUser[] = ['runs, wf worker and wf serve'];

/** Short forms that other runners of this format have. */
const shortForms: Readonly<Record<string, string>> = { host: '-s, ', port: '-p, ' };

/** Adds the options of `wf serve`: one for each of its settings with a flag. */
export function withServerSettings(command: Command): Command {
  return withSettings(command, serverUsers);
}

const noServer = ['--no-server', 'use the runs of this machine, even if a daemon is configured'] as const;

/** Adds the options of commands that can use a daemon: its address and the login. */
export function withClientSettings(command: Command): Command {
  return withSettings(command, clientUsers).option(...noServer);
}

/** Adds the options of commands that use an engine: where it is, and the key. */
export function withEngine(command: Command): Command {
  return withSettings(command, engineUsers);
}

/** Adds the options of commands that start runs on an engine. */
export function withEngineRuns(command: Command): Command {
  return withEngine(command).option('--lost-after <seconds>', settings.lostAfter.about);
}

/** Adds the options of commands that work only on this machine, so that they can refuse a daemon with a clear error. */
export function withLocalOnly(command: Command): Command {
  return command.addOption(new Option('--server <url>').hideHelp()).option(...noServer);
}

function withSettings(command: Command, users: readonly SettingUser[]): Command {
  for (const [key, { usedBy, flag, kind, about }] of Object.entries<Setting<unknown>>(settings)) {
    if (!users.includes(usedBy) || flag === null) continue;
    const option = new Option(`${shortForms[key] ?? ''}${flag}`, about.replaceAll('`', ''));
    command.addOption(kind.name.startsWith('list') ? option.argParser(append) : option);
  }
  return command;
}

/** The shells for which there is a completion script in `assets/completion/`. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** The name of a shell. */
export type Shell = (typeof shells)[number];
