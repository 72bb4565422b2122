import { runVariables } from '#core/run-variables.ts';
import { appendArgs, listCommand, withCodeArgs } from '#core/words/command-args.ts';
import { valueAt } from '#core/words/json-path.ts';
import { itemNames, mentionsIn, workflowNames } from '#core/words/mentions.ts';
import { singleQuoted } from '#core/words/quote-word.ts';
import { sealedWords } from '#core/words/shell-paths.ts';
import { parseCommand, type WordPiece } from '#core/words/words.ts';
import type { Template } from '#core/workflow.ts';
import { shellArgv } from '#processes/programs.ts';
import { appendedCode, interpreterLine, namesShell, stepShell } from '../command/command.ts';
import type { Attempt, Scope } from '../executor.ts';

/** Code for the remote `sh`, which finally becomes the step's program. */
export type RemoteCode = {
  readonly code: string;
  readonly script: string | null;
  /** Whether background processes of the program are spared. */
  readonly leaveBackground: boolean;
};

type Problem = { readonly problem: string };

/** Path of the remote script, as shell code. */
const SCRIPT_PATH = '"$wf_dir/script"';

/** The step's command or script for another machine, with the same meaning as locally. */
export function remoteCode(attempt: Attempt): RemoteCode | Problem {
  const { step, params } = attempt;
  const work = step.script === null ? withCodeArgs(step) : step;
  const words = step.script !== null && step.args.length === 0 ? params : work.args.map(attempt.expand);
  const args = words.map(singleQuoted);
  const program =
    step.script === null ? commandCode(work.command ?? '', args, attempt) : scriptCode(step.script, args, attempt);
  if (typeof program !== 'string') return program;
  const text = [work.command ?? '', step.script ?? ''].flat().join('\n');
  const code = [...assignments(text, attempt), program].join('\n');
  return { code, script: step.script, leaveBackground: step.leaveBackground };
}

function scriptCode(script: string, args: readonly string[], attempt: Attempt): string | Problem {
  const fileAndArgs = [SCRIPT_PATH, ...args];
  const { command } = attempt.step;
  if (command !== null) return commandCode(command, fileAndArgs, attempt);
  const interpreter = interpreterLine(script) ?? stepShell(attempt);
  if ('problem' in interpreter) return interpreter;
  return programCode([...interpreter.map(singleQuoted), ...fileAndArgs]);
}

function commandCode(
  command: Template | readonly Template[],
  appended: readonly string[],
  attempt: Attempt,
): string | Problem {
  if (typeof command !== 'string') {
    const { words: plain, env } = listCommand(command, attempt);
    const words = plain.map(singleQuoted);
    const isEmpty = words.length === 0 || words[0] === "''";
    return isEmpty ? empty : [...exports(env), programCode([...words, ...appended])].join('\n');
  }
  const sealed = sealedWords(command, attempt.scope);
  const parsed = parseCommand(sealed.code);
  const isNamed = namesShell(attempt) && attempt.step.script === null && appendArgs(command, []) !== null;
  if (parsed.kind === 'shell' || isNamed) return shellCode(command, appended, attempt);
  const own = ownNames(attempt);
  const scope = (name: string) =>
    sealed.env[name] ?? (own.has(name) || /^\d|\.$/.test(name) ? attempt.scope(name) : undefined);
  const before: string[] = [];
  const words = parsed.words.map((pieces) => piecesCode(pieces, scope, before)).filter((word) => word !== '');
  return words.length === 0
    ? empty
    : [...exports(sealed.env), ...before, programCode([...words, ...appended])].join('\n');
}

const empty: Problem = { problem: 'the command is empty' };

/** The text unchanged, for the step's shell; `appended` is code. */
function shellCode(text: string, appended: readonly string[], attempt: Attempt): string | Problem {
  const shell = stepShell(attempt);
  if ('problem' in shell) return shell;
  const line = appendedCode(text, appended, attempt.scope);
  if ('problem' in line) return line;
  const values = Object.entries(line.args).map(([name, value]) => `export ${name}=${value}`);
  const program = programCode(shellArgv(shell, line.code, attempt.params).map(singleQuoted));
  return [...exports(line.env), ...values, program].join('\n');
}

function exports(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).map(([name, value]) => `export ${name}=${singleQuoted(value)}`);
}

/** `exec`: no shell remains between the supervisor and the program that a signal could end first. */
function programCode(words: readonly string[]): string {
  return `exec ${words.join(' ')}`;
}

/** Variables that describe the run; the rest of `WF_*` is about this machine. */
const ofTheRun = [...runVariables.run, ...runVariables.moment, ...runVariables.step, ...runVariables.end];

/**
 * Variables with values from the workflow: they mean the same on another machine. All others (`HOME`, `PATH`) belong to
 * the remote machine.
 */
function ownNames(attempt: Attempt): ReadonlySet<string> {
  const { step, scope, env } = attempt;
  const known = [...ofTheRun, ...workflowNames(attempt), ...step.env.map(({ name }) => name), ...itemNames(step)];
  return new Set(known.filter((name) => (env[name] ?? scope(name)) !== undefined));
}

/**
 * Shell assignments for a remote program: the workflow's own variables, and those of this machine that the text
 * mentions and the remote machine does not have. Values too long for an environment are left out, as locally.
 */
function assignments(text: string, attempt: Attempt): readonly string[] {
  const own = ownNames(attempt);
  const others = [...mentionsIn([text]).names].filter((name) => !own.has(name));
  const assign = (names: Iterable<string>, code: (name: string) => string) =>
    [...names].flatMap((name) => {
      const value = attempt.env[name];
      return value === undefined ? [] : [`${code(name)}=${singleQuoted(value)}`];
    });
  return [
    ...assign(own, (name) => `export ${name}`),
    ...assign(others, (name) => `[ "\${${name}+x}" ] || export ${name}`),
  ];
}

/**
 * A word of a command as code for a remote shell; empty if there are only empty variables, which make no word. Variables known
 * to `scope` are inserted as data; the others are left to that shell, within the word. `before` gets the assignments to run
 * before the command.
 */
function piecesCode(pieces: readonly WordPiece[], scope: Scope, before: string[]): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? singleQuoted(piece) : variableCode(piece, scope, before)))
    .join('');
}

function variableCode(piece: Exclude<WordPiece, string>, scope: Scope, before: string[]): string {
  const { name, path, quoted, fallback } = piece;
  const value = path === undefined ? scope(name) : (valueAt(name, path, scope) ?? '');
  if (value !== undefined && value !== '') return singleQuoted(value);
  const instead = piecesCode(fallback, scope, before);
  if (value !== undefined || /^\d/.test(name)) return instead === '' && quoted ? "''" : instead;
  if (instead === '') return quoted ? `"\${${name}}"` : `\${${name}:+"\${${name}}"}`;
  const helper = `wf_word_${before.length + 1}`;
  before.push(`${helper}=\${${name}:-${instead}}`);
  return quoted ? `"$${helper}"` : `\${${helper}:+"$${helper}"}`;
}

/**
 * The remote command line, the same for every step: from any login shell it starts an `sh` that reads its code from the
 * first line of its input. So no value appears in a list of processes or exceeds a limit, and the rest of the input
 * stays available.
 */
export const BOOTSTRAP = `exec sh -c 'IFS= read -r wf_code && eval "$(printf %b "$wf_code")"'`;

/** Input that asks the program to end. */
export const STOP_LINE = 'stop\n';

/**
 * The first line of the input: code that runs the program in the foreground, without input, and exits with its exit code. A
 * watcher in the background reads the rest of the input. On a line it sends the signal to the program's whole group. At the
 * end of the input (this machine is gone or kills the step) it sends the signal, unless it already has, and soon SIGKILL.
 *
 *   - The group is the session created by the SSH server; its number is that of the supervisor, which survives the signal.
 *   - Without a terminal the server does not notify the program of a lost connection, hence the watcher.
 *   - A signal sent while the program is being started would be lost, so the watcher creates a mark before sending it.
 *   - Only the program writes to the error output: a shell would print a message about its end, including the code.
 *   - Processes that the program leaves in the group are ended with it: nothing can reach them later, and the server keeps
 *     the connection while any process holds the output open.
 */
export function supervisedLine(program: RemoteCode, signal: string): string {
  return `${asLine(supervisor(program, signal.replace(/^SIG/, '')))}\n`;
}

function supervisor({ code, script, leaveBackground }: RemoteCode, signal: string): string {
  return `exec 3<&0 4>&2 </dev/null 2>/dev/null
wf_dir=$(umask 077; mktemp -d)
${script === null ? '' : writeScript(script)}
wf_mark=\${wf_dir:-/dev/null}/stopped
wf_remove() { [ -z "$wf_dir" ] || rm -rf "$wf_dir"; }
trap : ${signal}
(
  trap '' ${signal}
  exec 4>&-
  while IFS= read -r wf_line; do wf_asked=1; : >"$wf_mark"; kill -${signal} -$$; done
  [ "$wf_asked" ] || { kill -${signal} -$$; sleep 5; }
  wf_remove
  kill -KILL -$$
) <&3 >/dev/null &
wf_watcher=$!
exec 3<&-
( exec 2>&4 4>&-; [ -e "$wf_mark" ] && exit 143; eval ${singleQuoted(code)} )
wf_status=$?
kill -KILL $wf_watcher
${leaveBackground ? '' : GROUP_END}
wf_remove
exit $wf_status`;
}

/**
 * Sends the rest of the group SIGTERM, unless a stop already did, and later SIGKILL from a background process, so that
 * the step does not wait for processes that have closed the output.
 */
const GROUP_END = `trap '' TERM
( sleep 5; kill -KILL -$$ ) >/dev/null 4>&- &
[ -e "$wf_mark" ] || kill -TERM -$$`;

/** Only scripts need a directory: a command runs without a writable one. */
function writeScript(script: string): string {
  return `if [ -z "$wf_dir" ] || ! printf %s ${singleQuoted(script)} >"$wf_dir/script"; then
  echo 'the script could not be stored: no temporary directory is writable' >&4
  exit 1
fi`;
}

/** Escapes the code for `printf %b`. */
function asLine(code: string): string {
  return code.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
