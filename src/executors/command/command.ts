import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { appendArgs, listCommand, withCodeArgs } from '#core/words/command-args.ts';
import { sealedWords, withoutPaths } from '#core/words/shell-paths.ts';
import { expandWords, hasForeignArray, parseCommand } from '#core/words/words.ts';
import type { Template } from '#core/workflow.ts';
import { runProcess, shellArgv, shellWords } from '#processes/programs.ts';
import type { Program } from '#processes/started-program.ts';
import { messageOf } from '#system/errors.ts';
import { removeIfPossible } from '#system/files.ts';
import type { Attempt, Executor, Scope } from '../executor.ts';

/** A program to start, or why the step's settings do not name one. */
export type CommandLine = Program | { readonly problem: string };

/**
 * The program of a step's `command`, with words appended verbatim. `isNamed`: the file names a shell for every text.
 */
export function commandLine(
  command: Template | readonly Template[],
  appended: readonly string[],
  attempt: Attempt,
  isNamed = namesShell(attempt),
): CommandLine {
  if (typeof command !== 'string') {
    const { words, env } = listCommand(command, attempt);
    return programOf(words, appended, attempt, env);
  }
  const isAppendable = appended.length === 0 || appendArgs(command, []) !== null;
  if (isNamed && isAppendable && command.trim() !== '') return inShell(command, appended, attempt);
  const sealed = sealedWords(command, attempt.scope);
  const scope = (name: string) => sealed.env[name] ?? attempt.scope(name);
  const parsed = parseCommand(sealed.code);
  if (parsed.kind !== 'words' || hasForeignArray(parsed.words, attempt.scope))
    return inShell(command, appended, attempt);
  return programOf([...expandWords(parsed.words, scope)], appended, attempt, sealed.env);
}

/** Whether the step or its file names a shell: only without one, plain commands start directly. */
export function namesShell({ step, workflow }: Attempt): boolean {
  return step.shell !== null || workflow.namesShell === true;
}

function inShell(command: string, appended: readonly string[], attempt: Attempt): CommandLine {
  const shell = stepShell(attempt);
  if ('problem' in shell) return shell;
  return throughShell(command, appended, attempt, (code) => shellArgv(shell, code, attempt.params));
}

/** The words of the step's shell. */
export function stepShell({ step, workflow, scope }: Attempt): readonly string[] | { readonly problem: string } {
  const shell = step.shell ?? workflow.shell;
  return shellWords(shell, scope) ?? { problem: `shell ${JSON.stringify(shell)} is not a program with its options` };
}

function programOf(
  words: readonly string[],
  appended: readonly string[],
  { cwd, env }: Attempt,
  added: Attempt['env'],
): CommandLine {
  // Otherwise the first argument would become the program.
  if (words.length === 0 || words[0] === '') return { problem: 'the command is empty' };
  return { argv: [...words, ...appended], cwd, env: { ...env, ...added } };
}

/** Runs the text in the shell unchanged. */
export function throughShell(
  text: string,
  appended: readonly string[],
  attempt: Attempt,
  argvOf: (code: string) => readonly string[],
): CommandLine {
  const line = appendedCode(text, appended, attempt.scope);
  if ('problem' in line) return line;
  return { argv: argvOf(line.code), cwd: attempt.cwd, env: { ...attempt.env, ...line.env, ...line.args } };
}

/**
 * The code of a text with words appended. They travel in variables, `args`, and only the names of these are appended,
 * so that no value is parsed as code.
 */
export function appendedCode(
  text: string,
  appended: readonly string[],
  scope: Scope,
): (Record<'env' | 'args', Attempt['env']> & { readonly code: string }) | { readonly problem: string } {
  const { code: own, env } = withoutPaths(text, scope);
  const args = Object.fromEntries(appended.map((value, i) => [`WF_ARG_${i + 1}`, value]));
  const references = Object.keys(args).map((name) => `"$${name}"`);
  const code = appended.length === 0 ? own : appendArgs(own, references);
  if (code !== null) return { code, env, args };
  return { problem: `cannot append arguments to the command ${JSON.stringify(text)}: write them into the command` };
}

/**
 * Writes a script verbatim to a file that only this user can read; returns its path. The name begins with the step's, for
 * error messages; the rest only has to be unique in a private directory, which does not justify loading `node:crypto` (3 ms).
 */
function writeScript(directory: string, step: string, text: string): string {
  const name = step.replaceAll(/[^\w.-]+/g, '-').slice(0, 40);
  const path = join(directory, `${name}-${Math.random().toString(36).slice(2, 12)}`);
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  return path;
}

/**
 * The interpreter in the first line of a script, with its one argument, parsed like Linux does; null if there is none.
 * It gets the file as an argument: files may not be executable there.
 */
export function interpreterLine(script: string): readonly string[] | null {
  const line = /^#![ \t]*([^ \t\n]+)(?:[ \t]+([^\n]*))?/.exec(script);
  if (line === null) return null;
  const [, interpreter = '', rest = ''] = line;
  const argument = rest.replace(/[ \t\r]+$/, '');
  return argument === '' ? [interpreter] : [interpreter, argument];
}

/** Runs `command` with its `args`, or a `script` with its interpreter, as a process that writes directly to the log. */
export const executor: Executor = {
  run: async (_config, attempt) => {
    const { step } = attempt;
    if (step.script !== null) return runScript(step.script, attempt);
    if (step.command === null) return failed('the step has no command');
    const { command, args } = withCodeArgs(step);
    return runLine(commandLine(command ?? '', args.map(attempt.expand), attempt), attempt);
  },
};

/** The script's arguments are the step's `args`, or else the run's parameters. */
async function runScript(script: string, attempt: Attempt): Promise<Outcome> {
  const { step } = attempt;
  let path: string;
  try {
    path = writeScript(attempt.scratch(), step.name, script);
  } catch (error) {
    return failed(`the script could not be written: ${messageOf(error)}`);
  }
  try {
    const args = step.args.length > 0 ? step.args.map(attempt.expand) : attempt.params;
    return await runLine(scriptLine(script, [path, ...args], attempt), attempt);
  } finally {
    removeIfPossible(path);
  }
}

function scriptLine(script: string, fileAndArgs: readonly string[], attempt: Attempt): CommandLine {
  const { command } = attempt.step;
  if (command !== null) return commandLine(command, fileAndArgs, attempt, false);
  const interpreter = interpreterLine(script) ?? stepShell(attempt);
  if ('problem' in interpreter) return interpreter;
  return { argv: [...interpreter, ...fileAndArgs], cwd: attempt.cwd, env: attempt.env };
}

async function runLine(line: CommandLine, attempt: Attempt): Promise<Outcome> {
  return 'problem' in line ? failed(line.problem) : runProcess(attempt, line);
}
