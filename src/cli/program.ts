import { type Argument, Command, Help, type OutputConfiguration } from 'commander';
import type { AddCommand, SetExitCode } from './program/add-command.ts';
import { examples } from './program/examples.ts';
import { addGc, addHistory, addList, addLogs, addReport, addStatus } from './program/history-commands.ts';
import {
  addApprove,
  addCarry,
  addDry,
  addExec,
  addMark,
  addNotify,
  addReject,
  addRestart,
  addRetry,
  addRun,
  addStop,
} from './program/run-commands.ts';
import { addComplete, addCompletion, addConfig, addDoctor, addServe, addVersion } from './program/setup-commands.ts';
import { addGraph, addInit, addSchema, addValidate } from './program/write-commands.ts';
import type { Console } from './terminal/console.ts';
import { version } from './version.ts';

/**
 * Builds the command line. Each command's own module is loaded when it is called. `words` are the arguments of the program:
 * setting up the options of all commands takes a millisecond, so a run sets up its own only.
 */
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
  if (called === 'run' || called === 'start') addRun(program, console, setExitCode, words);
  else addGroups(program, (add) => add(program, console, setExitCode, words));
  for (const command of program.commands) command.addHelpText('after', () => exampleText(command.name()));
  return program;
}

/** A mistake in the command line in the form of all errors: the parser has its own form for them, and for suggestions. */
function errorText(text: string, [called = '']: readonly string[]): string {
  const [, message = text, suggestion] = /^([\s\S]*?)(?:\n\(Did you mean (.*)\?\))?\n*$/.exec(text) ?? [];
  const isCommand = called.startsWith('-') || message.startsWith('error: unknown command');
  const all = isCommand ? 'wf help lists the commands' : `wf help ${called} shows what it takes`;
  const help = suggestion === undefined ? all : `did you mean ${suggestion}? ${all}`;
  return `${message.replace(/(?<=\s)'(.*?)'(?=[\s.]|$)/g, '"$1"')}\n  help: ${help}\n`;
}

/**
 * Returns the words to parse. `wf help NAME` without such a command becomes `wf NAME`, which names the mistake: the parser
 * itself would print the whole help instead.
 */
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

function commandUsage(command: Command): string {
  return withAllNames(command, Help.prototype.commandUsage(command));
}

/** By itself the help shows a command's first alias only. */
function withAllNames(command: Command, text: string): string {
  const [first, ...more] = command.aliases();
  if (first === undefined) return text;
  const shown = `${command.name()}|${first}`;
  return text.replace(shown, [shown, ...more].join('|'));
}

/** The groups of `wf help`, with the commands in the order in which it lists them. */
const groups: readonly (readonly [heading: string, commands: readonly AddCommand[]])[] = [
  [
    'Run:',
    [addRun, addDry, addExec, addStop, addRetry, addRestart, addApprove, addReject, addMark, addNotify, addCarry],
  ],
  ['Look back:', [addList, addStatus, addHistory, addLogs, addReport, addGc]],
  ['Daemon:', [addServe]],
  ['Write workflows:', [addInit, addValidate, addGraph, addSchema]],
  ['Set up:', [addConfig, addDoctor, addCompletion, addComplete, addVersion]],
];
