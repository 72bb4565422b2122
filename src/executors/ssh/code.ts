import { appendArgs } from '../../core/words/append-args.ts';
import { valueAt } from '../../core/words/json-path.ts';
import { listCommand } from '../../core/words/list-words.ts';
import { workflowNames } from '../../core/words/own-names.ts';
import { withoutPaths } from '../../core/words/shell-paths.ts';
import { parseCommand, type WordPiece, type WordTemplate } from '../../core/words/words.ts';
import type { Template } from '../../core/workflow.ts';
import { shellArgv } from '../../processes/shell-argv.ts';
import { stepShell } from '../command/command-line.ts';
import { interpreterLine } from '../command/script-file.ts';
import type { Attempt, Scope } from '../executor.ts';
import { quoteWord } from './quote-word.ts';

/** What the other machine is to do, as code for its `sh`: in the end it becomes the step's program. */
export type RemoteCode = {
  readonly code: string;
  /** The text for the file `$wf_dir/script`; null without one. */
  readonly script: string | null;
  /** Is what the program leaves in the background spared? */
  readonly leaveBackground: boolean;
};

type Problem = { readonly problem: string };

/** Where the script is on the other machine, as shell code. */
const scriptPath = '"$wf_dir/script"';

/** The step's command or script for another machine, with the same meaning as on this one. */
export function remoteCode(attempt: Attempt): RemoteCode | Problem {
  const { step, params } = attempt;
  const args = (step.script !== null && step.args.length === 0 ? params : step.args.map(attempt.expand)).map(quoteWord);
  const program =
    step.script === null ? commandCode(step.command ?? '', args, attempt) : scriptCode(step.script, args, attempt);
  if (typeof program !== 'string') return program;
  const text = [step.command ?? '', step.script ?? ''].flat().join('\n');
  const code = [...assignments(text, attempt), program].join('\n');
  return { code, script: step.script, leaveBackground: step.leaveBackground };
}

function scriptCode(script: string, args: readonly string[], attempt: Attempt): string | Problem {
  const fileAndArgs = [scriptPath, ...args];
  const { command } = attempt.step;
  if (command !== null) return commandCode(command, fileAndArgs, attempt);
  const interpreter = interpreterLine(script) ?? stepShell(attempt);
  if ('problem' in interpreter) return interpreter;
  return programCode([...interpreter.map(quoteWord), ...fileAndArgs]);
}

function commandCode(
  command: Template | readonly Template[],
  appended: readonly string[],
  attempt: Attempt,
): string | Problem {
  if (typeof command !== 'string') {
    const { words: plain, env } = listCommand(command, attempt);
    const words = plain.map(quoteWord);
    const isEmpty = words.length === 0 || words[0] === "''";
    return isEmpty ? empty : [...exports(env), programCode([...words, ...appended])].join('\n');
  }
  const parsed = parseCommand(command);
  if (parsed.kind === 'shell') return shellCode(command, appended, attempt);
  const own = ownNames(attempt);
  const scope = (name: string) => (own.has(name) || /^\d/.test(name) ? attempt.scope(name) : undefined);
  const { words, before } = wordsCode(parsed.words, scope);
  return words.length === 0 ? empty : [...before, programCode([...words, ...appended])].join('\n');
}

const empty: Problem = { problem: 'the command is empty' };

/** The text as it is, for the step's shell. Appended words travel in variables of which only the names are put behind it. */
function shellCode(text: string, appended: readonly string[], attempt: Attempt): string | Problem {
  const shell = stepShell(attempt);
  if ('problem' in shell) return shell;
  const names = appended.map((_, i) => `WF_ARG_${i + 1}`);
  const references = names.map((name) => `"$${name}"`);
  const pathless = withoutPaths(text, attempt.scope);
  const code = appended.length === 0 ? pathless.code : appendArgs(pathless.code, references);
  if (code === null)
    return { problem: `nothing can be appended to the command ${JSON.stringify(text)}: put it in there` };
  const values = names.map((name, i) => `export ${name}=${appended[i]}`);
  return [...exports(pathless.env), ...values, programCode(shellArgv(shell, code, attempt.params).map(quoteWord))].join(
    '\n',
  );
}

function exports(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).map(([name, value]) => `export ${name}=${quoteWord(value)}`);
}

/** `exec`: between the supervisor and the program there is no shell that a signal could end before the program. */
function programCode(words: readonly string[]): string {
  return `exec ${words.join(' ')}`;
}

/** What tells a step of its run; the rest of `WF_*` is about this machine. */
const runVariables = [
  ...['WF_RUN_ID', 'WF_WORKFLOW', 'WF_STEP', 'WF_ATTEMPT', 'WF_STATUS', 'WF_FAILED_STEP', 'WF_ERROR'],
  ...['DAG_NAME', 'DAG_REQUEST_ID'],
];

/**
 * The names to which the workflow gives values: they mean the same on another machine. All others (`HOME`, `PATH`) are the
 * other machine's own.
 */
function ownNames(attempt: Attempt): ReadonlySet<string> {
  const { step, scope, env } = attempt;
  const known = [...runVariables, ...workflowNames(attempt), ...step.env.map(({ name }) => name)];
  return new Set(known.filter((name) => (env[name] ?? scope(name)) !== undefined));
}

/**
 * Assignments, as shell code, for a program on another machine: the workflow's own variables, and those of this machine that
 * the text names and the other machine has not. What is too long for an environment is in none here either.
 */
function assignments(text: string, attempt: Attempt): readonly string[] {
  const own = ownNames(attempt);
  const others = [...mentionedNames(text)].filter((name) => !own.has(name));
  const assign = (names: Iterable<string>, code: (name: string) => string) =>
    [...names].flatMap((name) => {
      const value = attempt.env[name];
      return value === undefined ? [] : [`${code(name)}=${quoteWord(value)}`];
    });
  return [
    ...assign(own, (name) => `export ${name}`),
    ...assign(others, (name) => `[ "\${${name}+x}" ] || export ${name}`),
  ];
}

/** Every name that may be meant as a variable; one too many does no harm. */
function mentionedNames(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\$\{?#?([A-Za-z_]\w*)/g)].map(([, name = '']) => name));
}

/** Words as shell code, and the assignments that have to come before it. */
type WordsCode = { readonly words: readonly string[]; readonly before: readonly string[] };

/**
 * Words of a command as code for the shell of another machine. Variables that `scope` knows are put in as data; the others
 * are left to that shell, each staying within its word.
 */
function wordsCode(templates: readonly WordTemplate[], scope: Scope): WordsCode {
  const before: string[] = [];
  const words = templates.map((pieces) => piecesCode(pieces, scope, before)).filter((word) => word !== '');
  return { words, before };
}

/** The empty text where nothing but empty variables is: that is no word. */
function piecesCode(pieces: readonly WordPiece[], scope: Scope, before: string[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? quoteWord(piece) : variableCode(piece, scope, before)))
    .join('');
}

function variableCode(piece: Exclude<WordPiece, string>, scope: Scope, before: string[]): string {
  const { name, path, quoted, fallback } = piece;
  const value = path === undefined ? scope(name) : (valueAt(name, path, scope) ?? '');
  if (value !== undefined && value !== '') return quoteWord(value);
  const instead = piecesCode(fallback, scope, before);
  if (value !== undefined || /^\d/.test(name)) return instead === '' && quoted ? "''" : instead;
  if (instead === '') return quoted ? `"\${${name}}"` : `\${${name}:+"\${${name}}"}`;
  const helper = `wf_word_${before.length + 1}`;
  before.push(`${helper}=\${${name}:-${instead}}`);
  return quoted ? `"$${helper}"` : `\${${helper}:+"$${helper}"}`;
}
