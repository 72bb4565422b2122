import { allSteps, type Step, type Template, type Workflow } from '../workflow.ts';
import { expandOwn } from './interpolate.ts';
import { PATH, PathProblem } from './json-path.ts';
import { stepNames } from './mentions.ts';
import { commandsOf, listProblem, mayNest, nestedMessage, sealNested, withoutQuotes } from './nested-shells.ts';
import { findLaunch, shellCodeIndex } from './shell-launch.ts';
import { type PathlessCode, withoutPaths } from './shell-paths.ts';
import { endOfUnit, isReservedWord, matchAt } from './shell-words.ts';
import { resultNames } from './step-results.ts';
import { parseCommand } from './words.ts';

/** State of the last simple command of a text: nothing yet, program named, or closed by a bracket. */
type Ending = 'nothing' | 'named' | 'closed';

const BLANKS = /[ \t]+/y;
const SEPARATORS = /[|&;\n]+|\(/y;
const REDIRECTION = /\d*(?:>>|>\||<>|[<>]&|[<>])[ \t]*/y;
const ASSIGNMENT = /[A-Za-z_]\w*\+?=/y;

/**
 * Appends words, given as shell code, as further arguments of the last command of a shell code text. Returns null
 * unless the command is certain to receive them: `cd x && make` does; after `sleep 9 &`, a comment, `fi` or an
 * unbalanced quote they would be lost or taken for a command.
 */
export function appendArgs(shellCode: string, args: readonly string[]): string | null {
  const text = withoutTrailingSpace(shellCode);
  // A shell joins continued lines before it splits words. It does not inside single quotes, but no word ends there either.
  const joined = text.replace(/\\./gs, (pair) => (pair === '\\\n' ? '' : pair));
  return endOfLastCommand(joined) === 'named' ? [text, ...args].join(' ') : null;
}

function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Null: cannot be determined. */
function endOfLastCommand(text: string): Ending | null {
  let ending: Ending = 'nothing';
  for (let at = 0; at < text.length; ) {
    const skipped = lengthOf(BLANKS, text, at) || lengthOf(SEPARATORS, text, at);
    if (skipped > 0) {
      if (!' \t'.includes(text.charAt(at))) ending = 'nothing';
      at += skipped;
    } else if (text[at] === ')') {
      ending = 'closed';
      at++;
    } else {
      const redirected = lengthOf(REDIRECTION, text, at);
      const end = endOfWord(text, at + redirected);
      if (end === null || ending === 'closed') return null;
      const isNext = ending === 'nothing' && redirected === 0 && lengthOf(ASSIGNMENT, text, at) === 0;
      // A comment or a construct takes no arguments; and if a word can be empty, the first argument would become the program.
      const canName = !isReservedWord(text.slice(at, end)) && !/[#$`]/.test(text.charAt(at));
      if (isNext && !canName) return null;
      if (isNext) ending = 'named';
      at = end;
    }
  }
  return ending;
}

/** Null if there is no word, it never ends, or a here-document starts. */
function endOfWord(text: string, from: number): number | null {
  let at = from;
  while (at < text.length && !/[ \t\n|&;<>()]/.test(text.charAt(at))) {
    if (text[at] === '#' && at === from) return null;
    const end = endOfUnit(text, at);
    if (end === null) return null;
    at = end;
  }
  return at === from ? null : at;
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  return matchAt(pattern, text, at)?.[0].length ?? 0;
}

type Work = Pick<Step, 'command' | 'args'>;

/**
 * A step whose `args` hold the code of a shell that its `command` starts (`command: sh`, `args: [-c, CODE]`), with the
 * args up to the code moved into the command: no value becomes code there. Other steps unchanged.
 */
export function withCodeArgs({ command, args }: Work): Work {
  const unchanged = { command, args };
  if (command === null || args.length === 0 || !mayNest([command, args].flat(2).join(' '))) return unchanged;
  const lastWords = (text: string) =>
    (commandsOf(text).at(-1) ?? []).map(({ start, end }) => withoutQuotes(text.slice(start, end)));
  const words = typeof command === 'string' ? lastWords(command) : command;
  const code = findLaunch([...words, ...args])?.code ?? -1;
  if (code < words.length || code >= words.length + args.length) return unchanged;
  const count = code - words.length + 1;
  const [moved, rest] = [args.slice(0, count), args.slice(count)];
  if (typeof command !== 'string')
    return { command: [...command, ...moved.slice(0, -1), codeOf(moved.at(-1) ?? '')], args: rest };
  const quoted = moved.map(asWord);
  const text = `${command}`;
  const appended = parseCommand(text).kind === 'words' ? [text.trim(), ...quoted].join(' ') : appendArgs(text, quoted);
  return appended === null ? unchanged : { command: appended, args: rest };
}

/** The code of a template, for a shell that expands its variables; as written if that is impossible. */
function codeOf(template: Template): string {
  const { code } = sealNested(`sh -c ${asWord(template)}`, { isOwn: () => true, isSplit: true });
  const parsed = parseCommand(code);
  const word = parsed.kind === 'words' ? parsed.words[2] : undefined;
  return word?.every((piece) => typeof piece === 'string') ? word.join('') : template;
}

/** An escaped dollar, the dollar of a variable, and characters that are special in double quotes. */
const tokens = new RegExp(
  String.raw`(\\\$|\$(?=[A-Za-z_1-9]|\{(?:[A-Za-z_]\w*|[1-9]\d*)(?:${PATH})?(?:\}|:-)))|[\\"$\x60]`,
  'g',
);

/** A text with variables as a word of a command, in double quotes. */
function asWord(template: Template): string {
  return `"${template.replace(tokens, (token, kept?: string) => kept ?? `\\${token}`)}"`;
}

/** The variables and names for reading the words of a list. */
type ListContext = {
  readonly workflow: Workflow;
  readonly step: Step;
  readonly params: readonly string[];
  readonly scope: (name: string) => string | undefined;
};

/**
 * The words of a command given as a list. Only names of the workflow are replaced: the `$i` of a loop and the `$2` of
 * an awk program are not. The code of a shell (`[sh, -c, CODE]`) stays as written: the shell has the variables in its
 * environment, and no value may become code.
 */
export function listWords(command: readonly Template[], context: ListContext): readonly string[] {
  return listCommand(command, context).words;
}

/** The words, with variables in place of the JSON paths in the code of a shell. Throws a `PathProblem`. */
export function listCommand(
  command: readonly Template[],
  context: ListContext,
): { readonly words: readonly string[]; readonly env: PathlessCode['env'] } {
  const own = isOwn(context);
  const problem = listProblem(command, (name) => own(name, true));
  if (problem !== null && problem.kind !== 'unknown') throw new PathProblem(nestedMessage(problem));
  const index = shellCodeIndex(command);
  const { code, env } = withoutPaths(command[index] ?? '', context.scope);
  const words = command.map((word, at) => (at === index ? code : expandOwn(word, context.scope, own)));
  return { words, env };
}

/** Writes words as a list that `listWords` reads back unchanged. */
export function wordsAsList(words: readonly string[], context: Omit<ListContext, 'scope'>): readonly Template[] {
  const own = stepNames(context);
  const code = shellCodeIndex(words);
  const escaped = (word: string) =>
    word.replace(/\$(?=\{?([A-Za-z_]\w*))/g, (dollar, name: string) => (own.has(name) ? `\\${dollar}` : dollar));
  return words.map((word, index) => (index === code ? word : escaped(word)));
}

function isOwn(context: Omit<ListContext, 'scope'>): (name: string, hasPath: boolean) => boolean {
  const own = stepNames(context);
  const results = new Set(allSteps(context.workflow).flatMap(resultNames));
  return (name, hasPath) => own.has(name) || (hasPath && results.has(name));
}
