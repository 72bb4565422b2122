import { appendArgs } from '../../core/words/append-args.ts';
import { listCommand } from '../../core/words/list-words.ts';
import { withoutPaths } from '../../core/words/shell-paths.ts';
import { parseCommand } from '../../core/words/words.ts';
import type { Template } from '../../core/workflow.ts';
import { shellArgv } from '../../processes/shell-argv.ts';
import { stepShell } from '../command/command-line.ts';
import { interpreterLine } from '../command/script-file.ts';
import type { Attempt } from '../executor.ts';
import { quoteWord } from './quote-word.ts';
import { assignments, ownNames } from './variables.ts';
import { wordsCode } from './words.ts';

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
