import { type Argument, Command, Help, type OutputConfiguration } from 'commander';
import type { AddCommand, SetExitCode } from './program/add-command.ts';
import * as others from './program/commands.ts';
import * as runs from './program/run-commands.ts';
import type { Console } from './terminal/console.ts';
import { version } from './version.ts';

/** Builds the command line of all commands; for `wf run` only its own, since the options of all take a millisecond. */
export function buildProgram(console: Console, setExitCode: SetExitCode, words: readonly string[]): Command {
  const [called] = words;
  const program = new Command('wf')
    .description('Runs workflows: directed acyclic graphs of steps, written in a YAML file.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print the help of a command')
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ subcommandTerm, commandUsage })
    .configureOutput({ ...streams(console), outputError: (text, write) => write(errorText(text, words)) });
  if (called === 'run' || called === 'start') runs.addRun(program, console, setExitCode, words);
  else addGroups(program, (add) => add(program, console, setExitCode, words));
  for (const command of program.commands) command.addHelpText('after', () => exampleText(command.name()));
  return program;
}

/** A mistake in the command line in the form of all errors: the parser has its own form for them, and for suggestions. */
function errorText(text: string, [called = '']: readonly string[]): string {
  const [, message = text, suggestion] = /^([\s\S]*?)(?:\n\(Did you mean (.*)\?\))?\n*$/.exec(text) ?? [];
  const isCommand = called.startsWith('-') || message.startsWith('error: unknown command');
  const all = isCommand ? 'wf help lists the commands' : `wf help ${called} shows its arguments and options`;
  const help = suggestion === undefined ? all : `did you mean ${suggestion}? ${all}`;
  return `${message.replace(/(?<=\s)'(.*?)'(?=[\s.]|$)/g, '"$1"')}\n  help: ${help}\n`;
}

/** Returns the words to parse: `wf help NAME` becomes `wf NAME` for an unknown command, so that the error names it. */
export function helpWords(words: readonly string[], program: Command): readonly string[] {
  const [called, name] = words;
  if (called !== 'help' || name === undefined || name.startsWith('-')) return words;
  if (name === 'help') return ['help'];
  const isKnown = program.commands.some((command) => [command.name(), ...command.aliases()].includes(name));
  return isKnown ? words : [name];
}

function streams({ out, err, outTerminal, errTerminal }: Console): OutputConfiguration {
  return {
    writeOut: (text) => out.write(text),
    writeErr: (text) => err.write(text),
    getOutHelpWidth: () => outTerminal.size().columns,
    getErrHelpWidth: () => errTerminal.size().columns,
    getOutHasColors: () => outTerminal.color,
    getErrHasColors: () => errTerminal.color,
  };
}

function addGroups(program: Command, add: (command: AddCommand) => void): void {
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const command of commands) add(command);
  }
  // It joins the group that was added last.
  program.helpCommand('help [command]', 'print the help of a command');
}

/** The part of the help of a command that shows how it is used; empty where it has no example. */
function exampleText(name: string): string {
  const lines = examples[name] ?? [];
  const width = Math.max(0, ...lines.map(([line]) => line.length));
  return lines.length === 0
    ? ''
    : ['', 'Examples:', ...lines.map(([line, does]) => `  ${line.padEnd(width)}  # ${does}`)].join('\n');
}

/** A command with its arguments; its own help shows its options and aliases. */
function subcommandTerm(command: Command): string {
  return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ');
}

function argumentTerm(argument: Argument): string {
  const { required, variadic } = argument;
  const shown = variadic ? `${argument.name()}...` : argument.name();
  return required ? `<${shown}>` : `[${shown}]`;
}

/** By itself the help shows a command's first alias only. */
function commandUsage(command: Command): string {
  const text = Help.prototype.commandUsage(command);
  const [first, ...more] = command.aliases();
  if (first === undefined) return text;
  const shown = `${command.name()}|${first}`;
  return text.replace(shown, [shown, ...more].join('|'));
}

const groups: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  [
    'Run:',
    [
      runs.addRun,
      runs.addDry,
      runs.addWhy,
      runs.addExec,
      runs.addStop,
      runs.addRetry,
      runs.addRestart,
      runs.addBackfill,
      runs.addApprove,
      runs.addReject,
      runs.addMark,
      runs.addNotify,
      runs.addCarry,
    ],
  ],
  [
    'Look back:',
    [
      others.addList,
      others.addStatus,
      others.addHistory,
      others.addLogs,
      others.addArtifacts,
      others.addLocks,
      others.addReport,
      others.addGc,
    ],
  ],
  ['Daemon:', [others.addServe]],
  ['More machines:', [others.addWorker, others.addWorkers, others.addWorkerGuard]],
  ['Write workflows:', [others.addInit, others.addValidate, others.addConvert, others.addGraph, others.addSchema]],
  ['Set up:', [others.addConfig, others.addDoctor, others.addCompletion, others.addComplete, others.addVersion]],
];

/** The examples of `wf help COMMAND`, each with a short explanation. */
export const examples: Readonly<Record<string, readonly (readonly [line: string, does: string])[]>> = {
  run: [
    ['wf run deploy.yaml', 'run a file'],
    ["wf run deploy -- ENV=prod 'NOTE=two words'", 'with parameters'],
    ['wf run deploy --detach', 'in the background; prints its id'],
    ['wf run build.yaml --watch', 'again whenever its files change'],
  ],
  worker: [['wf worker --engine temporal://10.0.0.5:7233', 'serve the runs of that server']],
  workers: [['wf workers --engine temporal://10.0.0.5:7233', 'who serves its runs']],
  dry: [['wf dry deploy -- ENV=prod', 'print the plan with the values of this run']],
  why: [['wf why build.yaml compile', 'what has changed since its last success']],
  exec: [['wf exec --name backup -- pg_dump -f all.sql shop', 'with logs and history']],
  stop: [
    ['wf stop @latest', 'stop the last run'],
    ['wf stop deploy --all', 'stop every active run of a workflow'],
  ],
  retry: [
    ['wf retry @failed', 'retry the last failed run'],
    ['wf retry @failed --from load', 'run one step and everything that depends on it'],
    ['wf retry @failed --file', 'retry with the corrected file'],
  ],
  backfill: [['wf backfill etl --from 2026-11-01 --to 2026-12-01', 'a month']],
  restart: [['wf restart deploy', 'restart the last run of a workflow']],
  approve: [
    ['wf approve @latest', 'approve the step that waits'],
    ['wf approve deploy ship -p WHY=release', 'with an input'],
  ],
  reject: [['wf reject @latest --reason postponed', 'reject the step that waits']],
  mark: [['wf mark @failed load succeeded', 'let a retry skip this step']],
  notify: [['wf notify deploy', 'check that its notifications arrive']],
  list: [['wf list --json', 'print every workflow as JSON']],
  status: [
    ['wf status', 'show the last run'],
    ['wf status deploy', 'show the last run of a workflow'],
  ],
  history: [['wf history deploy --status failed --last 7d', 'the failed runs of a week']],
  logs: [
    ['wf logs @latest load', 'print the output of one step'],
    ['wf logs @latest --follow', 'follow the output of a running workflow'],
  ],
  artifacts: [
    ['wf artifacts @latest', 'list the files of the last run'],
    ["wf artifacts get @latest 'build/**' --to out", 'write some into a directory'],
  ],
  locks: [
    ['wf locks', 'list the locks in use'],
    ['wf locks break deploy-prod', 'free a lock of a lost machine'],
  ],
  report: [['wf report @failed --output failed.html', 'the last failed run']],
  gc: [['wf gc --older-than 30d --dry-run', 'print the runs that are too old']],
  serve: [
    ['wf serve', 'on http://127.0.0.1:8080'],
    ['wf serve --host 0.0.0.0 --require-login', 'on all addresses, with a token'],
  ],
  init: [
    ['wf init deploy.yaml', 'write a first workflow'],
    ['wf init --list', 'print the templates'],
  ],
  validate: [
    ['wf validate deploy.yaml', 'check one file'],
    ['wf validate', 'check the whole workflows directory'],
  ],
  convert: [['wf convert dagu.yaml --output deploy.yaml', 'write it with the keys of wf']],
  graph: [['wf graph deploy.yaml --format mermaid', 'for a Markdown page']],
  schema: [
    ['wf schema steps.retryPolicy', 'explain one key of workflow files'],
    ['wf schema --form dagu', 'JSON Schema for an editor with files of Dagu'],
  ],
  config: [['wf config maxConcurrentRuns', 'print one setting']],
  doctor: [
    ['wf doctor', 'check the tools'],
    ['wf doctor --engine temporal://10.0.0.5:7233', 'and that server'],
  ],
  completion: [['wf completion bash', 'print the completion script of bash']],
  version: [['wf version --json', 'print the versions of wf and Node']],
};
