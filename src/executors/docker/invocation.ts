import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { withCodeArgs } from '#core/words/command-args.ts';
import { mentionsIn } from '#core/words/mentions.ts';
import { quoteWord } from '#core/words/quote-word.ts';
import { shellCodeIndex } from '#core/words/shell-launch.ts';
import { sealedWords } from '#core/words/shell-paths.ts';
import { endOfUnit, isSystemVariable } from '#core/words/shell-words.ts';
import { parseCommand } from '#core/words/words.ts';
import type { Template } from '#core/workflow.ts';
import { type CommandLine, commandLine, interpreterLine, stepShell, throughShell } from '../command/command.ts';
import type { Attempt } from '../executor.ts';
import { DockerProblem } from './docker-daemon.ts';
import type { CommandShell } from './docker-settings.ts';

/** The program to run in a container. */
export type Invocation = {
  /** Null: `command` holds arguments of the container's entrypoint, or the command if it has none. */
  readonly entrypoint: readonly string[] | null;
  /** Null: the command of the image. */
  readonly command: readonly string[] | null;
  readonly script: { readonly directory: string; readonly name: string; readonly text: string } | null;
  /** Variables that carry the arguments. */
  readonly env: Readonly<Record<string, string>>;
  /** All the text of the step: variables mentioned in it may be expanded by a program in the container. */
  readonly mention: string;
};

/** Properties of the container that decide how something runs in it. */
export type Surroundings = {
  readonly entrypoint: readonly string[];
  /** Whether the step's own settings name the entrypoint. */
  readonly isEntrypointOwn: boolean;
  readonly scriptDirectory: string;
  readonly shell: CommandShell;
};

/**
 * How a step's command, args and script run in a container:
 *
 *   words              as arguments of the entrypoint, like `docker run`
 *   shell syntax       by the step's shell in the container, replacing the image's entrypoint; but characters that a shell
 *                      would only expand (`?`, `*`, `&` in a URL) are passed to an entrypoint unchanged
 *   script             by its interpreter in the container, replacing the image's entrypoint
 *   any text           by the shell of the container's own settings, if they name one
 *
 * Throws a `DockerProblem` for an empty command, or one that needs a shell while the step sets an entrypoint.
 */
export function invocationOf(attempt: Attempt, surroundings: Surroundings): Invocation {
  const { command, args, script } = attempt.step;
  const mention = [command ?? [], args, script ?? []].flat().join('\n');
  return { ...workOf(attempt, surroundings), mention };
}

function workOf(attempt: Attempt, surroundings: Surroundings): Work {
  const { entrypoint, isEntrypointOwn, shell } = surroundings;
  const { script } = attempt.step;
  if (script !== null) return scriptInvocation(script, attempt.step.args.map(attempt.expand), attempt, surroundings);
  const code = shell === null ? codeInvocation(attempt, entrypoint) : null;
  if (code !== null) return code;
  const { command, args: texts } = withCodeArgs(attempt.step);
  const args = texts.map(attempt.expand);
  if (command === null) return { ...plain, command: args.length > 0 ? args : null };
  if (typeof command === 'string' && shell !== null) {
    const { argv, env } = lineOf(throughShell(command, args, attempt, (code) => shellCommand(shell, code, attempt)));
    return { ...plain, ...entrypointOf(surroundings, argv), env: added(env, attempt.env) };
  }
  const isForShell = typeof command === 'string' && parseCommand(command).kind === 'shell';
  if (!isForShell) {
    const { argv, env } = lineOf(commandLine(command, args, attempt, false));
    return { ...plain, command: argv, env: { ...ofMachine(command, attempt), ...added(env, attempt.env) } };
  }
  const literal = entrypoint.length > 0 ? withoutExpansions(command) : null;
  if (literal !== null) return { ...plain, command: lineOf(commandLine(literal, args, attempt, false)).argv };
  if (isEntrypointOwn && entrypoint.length > 0) {
    throw new DockerProblem(
      `the command has shell syntax, which the entrypoint ${JSON.stringify(entrypoint)} would get as arguments: ` +
        'give the command as a list of words, or leave out "entrypoint"',
    );
  }
  const { argv, env } = lineOf(commandLine(command, args, attempt, false));
  return { ...plain, ...entrypointOf(surroundings, argv), env: added(env, attempt.env) };
}

/** The invocation if the entrypoint, such as `sh -c`, takes the first word of the command as code; else null. */
function codeInvocation(attempt: Attempt, entrypoint: readonly string[]): Work | null {
  if (shellCodeIndex(entrypoint) !== entrypoint.length) return null;
  const { command: own, args: texts } = attempt.step;
  const text = typeof own === 'string' ? [...entrypoint.map(quoteWord), withoutExpansions(own) ?? own].join(' ') : null;
  if (text !== null && parseCommand(text).kind === 'shell') return null;
  const { command, args } = withCodeArgs({ command: text ?? [...entrypoint, ...(own ?? [])], args: texts });
  const { argv, env } = lineOf(commandLine(command ?? '', args.map(attempt.expand), attempt, false));
  return {
    ...plain,
    command: argv.slice(entrypoint.length),
    env: { ...ofMachine(command ?? '', attempt), ...added(env, attempt.env) },
  };
}

/** Passes variables of this machine to a shell in the container, so that their values do not become code. */
function ofMachine(command: Template | readonly Template[], { env, scope }: Attempt): Invocation['env'] {
  if (typeof command !== 'string' || sealedWords(command, scope).code === command) return {};
  const names = [...mentionsIn([command]).names].filter((name) => !isSystemVariable(name));
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

type Work = Omit<Invocation, 'mention'>;

const plain: Work = { entrypoint: null, command: null, script: null, env: {} };

function scriptInvocation(
  text: string,
  stepArgs: readonly string[],
  attempt: Attempt,
  surroundings: Surroundings,
): Work {
  const { command } = attempt.step;
  const name = `wf-script-${randomBytes(4).toString('hex')}`;
  const directory = surroundings.scriptDirectory;
  const fileAndArgs = [posix.join(directory, name), ...(stepArgs.length > 0 ? stepArgs : attempt.params)];
  const script = { directory, name, text };
  if (command !== null) {
    const { argv, env } = lineOf(commandLine(command, fileAndArgs, attempt, false));
    return { ...entrypointOf(surroundings, argv), script, env: added(env, attempt.env) };
  }
  const { shell } = surroundings;
  const interpreter = interpreterLine(text) ?? (shell === null ? stepShell(attempt) : withoutCode(shell));
  if ('problem' in interpreter) throw new DockerProblem(interpreter.problem);
  return { ...entrypointOf(surroundings, [...interpreter, ...fileAndArgs]), script, env: {} };
}

/** The parameters follow a command that the last word announces, as `sh -c` takes them. */
function shellCommand(shell: readonly string[], code: string, { params }: Attempt): readonly string[] {
  return ANNOUNCES_CODE.test(shell.at(-1) ?? '') ? [...shell, code, shell[0] ?? '', ...params] : [...shell, code];
}

const ANNOUNCES_CODE = /^-[a-z]*c$/;

/** A shell that reads a file instead of a command: `[bash, -ec]` is `[bash, -e]`. */
function withoutCode(shell: readonly string[]): readonly string[] {
  const last = shell.at(-1) ?? '';
  if (!ANNOUNCES_CODE.test(last)) return shell;
  const rest = last.slice(0, -1);
  return [...shell.slice(0, -1), ...(rest === '-' ? [] : [rest])];
}

/** Keeps an entrypoint set by the step; the image's is meant for the image's own program. */
function entrypointOf(
  { isEntrypointOwn }: Surroundings,
  argv: readonly string[],
): Pick<Invocation, 'entrypoint' | 'command'> {
  return isEntrypointOwn
    ? { entrypoint: null, command: argv }
    : { entrypoint: argv.slice(0, 1), command: argv.slice(1) };
}

function lineOf(line: CommandLine): Exclude<CommandLine, { readonly problem: string }> {
  if ('problem' in line) throw new DockerProblem(line.problem);
  return line;
}

function added(env: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>): Invocation['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => before[name] !== value));
}

/**
 * Quotes shell syntax that a shell would only expand (`a?b=*`, `~`, `{x}`, an `&` within a word), so that each
 * character stands for itself. Null if the command has operators, substitutions or several lines, which need a shell.
 */
export function withoutExpansions(command: string): string | null {
  const text = command.trim();
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (isExpansion(text, at)) {
      literal += `\\${text.charAt(at)}`;
      at++;
    } else {
      const end = endOfUnit(text, at);
      const unit = end === null ? null : text.slice(at, end);
      if (end === null || unit === null || /^[\n|;<>()`&]|^\$\(/.test(unit)) return null;
      literal += unit;
      at = end;
    }
  }
  return parseCommand(literal).kind === 'words' ? literal : null;
}

/** An `&` between two characters of a word, as in a URL, was not meant to end a command. */
function isExpansion(text: string, at: number): boolean {
  if (text[at] === '&') return /^[^\s&]&[^\s&]$/.test(text.slice(Math.max(0, at - 1), at + 2));
  return '*?[]{}~#!'.includes(text.charAt(at));
}
