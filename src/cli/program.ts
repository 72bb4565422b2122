import { Command, Help, type OutputConfiguration } from 'commander';
import { addConfig, addDoctor, addSchema, addVersion } from './program/about-commands.ts';
import type { AddCommand, SetExitCode } from './program/add-command.ts';
import { addCarry, addExec, addMark, addRestart, addStop } from './program/control-commands.ts';
import { addDry, addGraph, addRun, addValidate } from './program/file-commands.ts';
import { addGc, addHistory, addList, addLogs, addReport, addRetry, addStatus } from './program/past-commands.ts';
import { addServe } from './program/serve-commands.ts';
import { addComplete, addCompletion, addInit } from './program/setup-commands.ts';
import type { Console } from './terminal/console.ts';
import { version } from './version.ts';

/**
 * The command line. Each command's own module is loaded when it is called. `words` are those behind the program's name: the
 * options of all the commands take a millisecond to set up, of which a run needs its own only.
 */
export function buildProgram(console: Console, setExitCode: SetExitCode, words: readonly string[]): Command {
  const [called] = words;
  const program = new Command('wf')
    .description('Runs workflows: directed acyclic graphs of steps, written in a YAML file.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand('help [command]', 'print help for a command')
    .showSuggestionAfterError()
    .showHelpAfterError('(wf help shows the commands and their options)')
    .exitOverride()
    .configureHelp({ subcommandTerm, commandUsage })
    .configureOutput(streams(console));
  for (const add of called === 'run' || called === 'start' ? [addRun] : commands)
    add(program, console, setExitCode, words);
  return program;
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

function subcommandTerm(command: Command): string {
  return withAllNames(command, Help.prototype.subcommandTerm(command));
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

/** In the order in which the help names them. */
const commands: readonly AddCommand[] = [
  addRun,
  addDry,
  addValidate,
  addGraph,
  addList,
  addStatus,
  addHistory,
  addLogs,
  addReport,
  addGc,
  addStop,
  addRetry,
  addRestart,
  addMark,
  addExec,
  addCarry,
  addServe,
  addSchema,
  addConfig,
  addDoctor,
  addInit,
  addCompletion,
  addComplete,
  addVersion,
];
