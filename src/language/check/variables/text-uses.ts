import { splitBackticks } from '../../../core/words/interpolate.ts';
import { shellCodeIndex } from '../../../core/words/list-words.ts';
import type { WordPiece } from '../../../core/words/words.ts';
import { parseCommand } from '../../../core/words/words.ts';
import type { VariableUse } from './shell-uses.ts';
import { shellUses } from './shell-uses.ts';

/** An escaped dollar, `$NAME`, `${NAME}`, `${NAME.key}`; `${NAME:-` says itself what happens without a value. */
const TEMPLATE_REFERENCE = /\\\$|\$(?:\{([A-Za-z_]\w*)(?:[.[][^}:]*)?\}|([A-Za-z_]\w*))/g;
const WHOLE_WORD = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/;
const SHELL = /^(?:.*\/)?(?:a|ba|da|k|mk|z)?sh$/;
/** A login shell, or one that behaves as at a terminal, reads files which set variables. */
const READS_FILES = /^(?:-[A-Za-z]*[li][A-Za-z]*|--(?:login|rcfile|init-file))$/;

/** The variables of a text in which `wf` replaces them. */
export function templateUses(text: string): readonly VariableUse[] {
  return [...text.matchAll(TEMPLATE_REFERENCE)].flatMap(({ 1: braced, 2: plain, index }) => {
    const name = braced ?? plain;
    return name === undefined ? [] : [{ name, at: index + (braced === undefined ? 1 : 2) }];
  });
}

/** The same where commands between backticks or in `$(...)` are run by the shell. */
export function substitutedUses(text: string): readonly VariableUse[] {
  const uses = splitBackticks(text).flatMap((part) =>
    'text' in part ? templateUses(part.text) : (shellUses(part.command) ?? []),
  );
  return located(
    text,
    uses.map(({ name }) => name),
  );
}

/** The variables of a command's text: of its words, or of the code for the shell. */
export function commandUses(text: string, shell: string): readonly VariableUse[] {
  const parsed = parseCommand(text);
  if (parsed.kind === 'shell') return isPlainShell(shell) ? (shellUses(text) ?? []) : [];
  return located(text, parsed.words.flatMap(withoutFallback));
}

/**
 * The variables of a command given as a list: a word that is nothing but one, since a dollar within a word may belong to the
 * program (`[awk, "{print $2}"]`), and the code of a shell. By the index of the word.
 */
export function listUses(words: readonly string[]): readonly (readonly VariableUse[])[] {
  const code = shellCodeIndex(words);
  return words.map((word, index) => {
    if (index === code) return words.slice(0, index).some(isFileReader) ? [] : (shellUses(word) ?? []);
    const [, braced, plain] = WHOLE_WORD.exec(word) ?? [];
    const name = braced ?? plain;
    return name === undefined ? [] : [{ name, at: braced === undefined ? 1 : 2 }];
  });
}

/** The variables of a script whose interpreter is a shell. */
export function scriptUses(script: string, interpreter: string): readonly VariableUse[] {
  const named = /^#![ \t]*(?:\S*\/env[ \t]+(?:-S[ \t]+)?)?([^\n]+)/.exec(script)?.[1];
  return isPlainShell(named ?? interpreter) ? (shellUses(script) ?? []) : [];
}

/** Whether this is a shell whose language is known, which reads nothing before the code. */
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

/** Each name with the offset of its first use in the text. A name whose value may be missing (`${NAME:-}`) is left out. */
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
