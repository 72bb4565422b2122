import { splitBackticks } from '#core/words/interpolate.ts';
import { mayNest } from '#core/words/nested-shells.ts';
import { shellCodeIndex } from '#core/words/shell-launch.ts';
import { scanShell } from '#core/words/shell-scan.ts';
import { bareNames } from '#core/words/shell-words.ts';
import { parseCommand, type WordPiece } from '#core/words/words.ts';
import { numberTextsOf, type RawItems } from '../build/build-policies.ts';
import type { Path } from '../diagnostic.ts';
import {
  assignments,
  entriesAt,
  executorOf,
  executorType,
  type RawAction,
  type RawCondition,
  type TextOrList,
  textsIn,
} from '../raw.ts';

/** A use and the path to its text, from the step or function. */
export type LocatedUse = VariableUse & { readonly path: Path };

/** Executors in whose `config` `wf` replaces the variables. */
const CONFIG_TEMPLATES = new Set(['http', 'webhook', 'docker', 'mail', 'terraform', 'ansible', 'ssh']);
/** Executors in whose command `wf` replaces the variables, word by word, on this machine. */
const COMMAND_TEMPLATES = new Set(['http', 'terraform', 'ansible']);

/** The variables in the texts of a step or handler. `shell`: null for commands in a container. */
export function entryUses(raw: RawAction & RawItems, shell: string | null): readonly LocatedUse[] {
  const { executor } = raw;
  const isInside = shell === null && executor === undefined && raw.run === undefined;
  return usesOf(raw, isInside ? 'docker' : executorType(raw), shell ?? 'sh');
}

function usesOf(raw: RawAction & RawItems, type: string, shell: string): readonly LocatedUse[] {
  return [
    ...(type === 'command' ? workUses(raw, raw.shell ?? shell) : []),
    ...(COMMAND_TEMPLATES.has(type) && typeof raw.command === 'string'
      ? at(['command'], commandUses(raw.command, ''))
      : []),
    ...(type === 'jq' ? [] : textUses(raw.args, ['args'])),
    ...(['dir', 'stdout', 'stderr'] as const).flatMap((key) => textUses(raw[key], [key], substitutedUses)),
    ...assignments(raw.env).flatMap(({ value, path }) => at(['env', ...path], substitutedUses(value))),
    ...conditionUses(raw, shell),
    ...(raw.repeatPolicy === undefined ? [] : usesOfCondition(raw.repeatPolicy, ['repeatPolicy'], shell)),
    ...(numberTextsOf(raw).numbers ?? []).flatMap(({ key, text }) => at(key.split('.'), templateUses(text))),
    ...textUses(raw.call?.args, ['call', 'args']),
    ...textUses(raw.params, ['params']),
    ...textUses(raw.locks, ['locks']),
    ...textUses(raw.workerSelector, ['workerSelector']),
    ...textUses(raw.artifacts, ['artifacts']),
    ...textUses(raw.sources, ['sources']),
    ...textUses(raw.generates, ['generates']),
    ...(typeof raw.cache === 'object' ? textUses(raw.cache, ['cache']) : []),
    ...textUses(raw.parallel, ['parallel'], substitutedUses),
    ...textUses(raw.matrix, ['matrix'], substitutedUses),
    ...(CONFIG_TEMPLATES.has(type) ? textUses(executorOf(raw).config, ['executor', 'config']) : []),
    ...textUses(raw.container, ['container']),
    ...(typeof raw.approval === 'object' ? textUses(raw.approval.prompt, ['approval', 'prompt']) : []),
    ...(typeof raw.service === 'object' ? textUses(raw.service.readyWhen, ['service', 'readyWhen']) : []),
  ];
}

/** The variables in the parts of a step or function that run on this machine. */
export function workUses(
  { command, script }: { readonly command?: TextOrList; readonly script?: string },
  shell: string,
): readonly LocatedUse[] {
  const interpreter = typeof command === 'string' ? command : (command?.join(' ') ?? shell);
  const inScript = script === undefined ? [] : at(['script'], scriptUses(script, interpreter));
  if (command === undefined) return inScript;
  if (typeof command === 'string') return [...at(['command'], commandUses(command, shell)), ...inScript];
  const words = listUses(command).flatMap((uses, index) => at(['command', index], uses));
  return [...words, ...inScript];
}

/** The variables of preconditions. */
export function conditionUses({ preconditions }: Pick<RawAction, 'preconditions'>, shell: string): LocatedUse[] {
  return entriesAt<RawCondition>(preconditions, ['preconditions']).flatMap(({ path, entry }) =>
    typeof entry === 'string' ? at(path, commandUses(entry, shell)) : usesOfCondition(entry, path, shell),
  );
}

function usesOfCondition(
  { condition = '', expected }: Exclude<RawCondition, string>,
  path: Path,
  shell: string,
): LocatedUse[] {
  if (expected === undefined) return at([...path, 'condition'], commandUses(condition, shell));
  // In a pattern a dollar can also be the end of a line.
  const wanted = expected.startsWith('re:') ? [] : templateUses(expected);
  return [...at([...path, 'condition'], substitutedUses(condition)), ...at([...path, 'expected'], wanted)];
}

/** The uses in each text within a value. */
export function textUses(value: unknown, path: Path, usesIn = templateUses): readonly LocatedUse[] {
  return textsIn(value, path, '$').flatMap((found) => at(found.path, usesIn(found.text)));
}

/** The uses in the text at `path`. */
export function at(path: Path, uses: readonly VariableUse[]): LocatedUse[] {
  return uses.map((use) => ({ ...use, path }));
}

/** An escaped dollar, `$NAME`, `${NAME}`, `${NAME.key}`; `${NAME:-` handles a missing value itself. */
const TEMPLATE_REFERENCE = /\\\$|\$(?:\{([A-Za-z_]\w*)(?:[.[][^{}:]*)?\}|([A-Za-z_]\w*))/g;
const WHOLE_WORD = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/;
const SHELL = /^(?:.*\/)?(?:a|ba|da|k|mk|z)?sh$/;
/** Options of a login or interactive shell, which reads files that set variables. */
const READS_FILES = /^(?:-[A-Za-z]*[li][A-Za-z]*|--(?:login|rcfile|init-file))$/;

/** The variables of a text in which `wf` replaces them. */
function templateUses(text: string): readonly VariableUse[] {
  return [...text.matchAll(TEMPLATE_REFERENCE)].flatMap(({ 1: braced, 2: plain, index }) => {
    const name = braced ?? plain;
    return name === undefined ? [] : [{ name, at: index + (braced === undefined ? 1 : 2) }];
  });
}

/** The variables of a text in which the shell runs commands between backticks or in `$(...)`. */
export function substitutedUses(text: string): readonly VariableUse[] {
  const uses = splitBackticks(text).flatMap((part) =>
    'text' in part ? templateUses(part.text) : (shellUses(part.command) ?? []),
  );
  const names = uses.map(({ name }) => name);
  return located(text, names);
}

/** The variables of a command's text: of its words, or of its shell code. */
function commandUses(text: string, shell: string): readonly VariableUse[] {
  const parsed = parseCommand(text);
  if (parsed.kind === 'shell') return isPlainShell(shell) ? (shellUses(text) ?? []) : [];
  // The code of a nested shell may set variables itself.
  const own = mayNest(text) ? bareNames(text) : null;
  const names = parsed.words.flatMap(withoutFallback);
  return located(text, own === null ? names : names.filter((name) => !own.has(name)));
}

/**
 * The variables of a command given as a list, by the index of the word: words that consist only of a variable, since a
 * dollar within a word may belong to the program (`[awk, "{print $2}"]`), and the code of a shell.
 */
function listUses(words: readonly string[]): readonly (readonly VariableUse[])[] {
  const code = shellCodeIndex(words);
  return words.map((word, index) => {
    if (index === code) return words.slice(0, index).some(isFileReader) ? [] : (shellUses(word) ?? []);
    const [, braced, plain] = WHOLE_WORD.exec(word) ?? [];
    const name = braced ?? plain;
    return name === undefined ? [] : [{ name, at: braced === undefined ? 1 : 2 }];
  });
}

/** The variables of a script, if its interpreter is a shell. */
function scriptUses(script: string, interpreter: string): readonly VariableUse[] {
  const named = /^#![ \t]*(?:\S*\/env[ \t]+(?:-S[ \t]+)?)?([^\n]+)/.exec(script)?.[1];
  return isPlainShell(named ?? interpreter) ? (shellUses(script) ?? []) : [];
}

/** Whether this is a known shell that reads no file before the code. */
function isPlainShell(command: string): boolean {
  const [program = '', ...options] = command.trim().split(/\s+/);
  return SHELL.test(program) && !options.some(isFileReader);
}

function isFileReader(word: string): boolean {
  return READS_FILES.test(word);
}

function withoutFallback(word: readonly WordPiece[]): readonly string[] {
  return word.flatMap((piece) => (typeof piece === 'string' || piece.fallback.length > 0 ? [] : [piece.name]));
}

/** Each name with the offset of its first use, without those whose value may be missing (`${NAME:-}`). */
function located(text: string, names: readonly string[]): readonly VariableUse[] {
  const offsets = new Map<string, number>();
  const optional = new Set<string>();
  for (const { 1: opening = '', 2: name = '', 3: operator, index } of text.matchAll(/(\$\{?)([A-Za-z_]\w*)(:-)?/g)) {
    if (operator !== undefined) optional.add(name);
    if (!offsets.has(name)) offsets.set(name, index + opening.length);
  }
  return names.flatMap((name) => {
    const at = offsets.get(name);
    return at === undefined || optional.has(name) ? [] : [{ name, at }];
  });
}

/** A variable in a text: its name, and the offset of the name. */
type VariableUse = { readonly name: string; readonly at: number };

/** The text reads another file, or builds names as it runs, so that what it sets is unknown. */
const SETS_UNSEEN =
  /(?:^|[\s;&|({`])(?:\.|source|eval)\s|\b(?:export|declare|typeset|readonly|local)\s+(?:-\w+\s+)*["']?[$`]|\bprintf\s+-v\s+["']?\$/;

/** The text tests whether the variable has a value. */
const TESTED = /-[nz]\s+"?\$\{?([A-Za-z_]\w*)/g;

/** Finds variables that a shell would expand and the text does not set; null if they cannot be determined. */
function shellUses(text: string): readonly VariableUse[] | null {
  if (SETS_UNSEEN.test(text)) return null;
  const { variables, isClear } = scanShell(text);
  if (!isClear) return null;
  const own = bareNames(text);
  for (const [, name = ''] of text.matchAll(TESTED)) own.add(name);
  // `:-`, `-`, `:?` and the like handle a missing value.
  for (const { name, isHandled } of variables) if (isHandled) own.add(name);
  return variables.filter(({ name }) => !own.has(name));
}
