import { type JsonPath, PATH, valueAt } from './json-path.ts';
import { isShellWord, matchAt } from './shell-words.ts';

/** A part of a word: literal text, or a variable with its fallback if it is undefined or empty. */
export type WordPiece =
  | string
  | {
      readonly name: string;
      /** A part of the JSON value of the variable. */
      readonly path?: JsonPath;
      readonly quoted: boolean;
      readonly fallback: readonly WordPiece[];
    };

/** A word before its variables are replaced. A `''` in it keeps the word even if it is empty. */
export type WordTemplate = readonly WordPiece[];

/** A parsed command: words to be started directly, or text that only a shell understands. */
export type ParsedCommand =
  | { readonly kind: 'shell' }
  | { readonly kind: 'words'; readonly words: readonly WordTemplate[] };

/** A position in the text; `depth` counts the nested defaults around it. */
type Cursor = { readonly text: string; at: number; depth: number };

const DEEPEST_FALLBACK = 100;

/** Sticky expressions, tried at the cursor. The groups capture the characters as they are meant. */
const space = { leading: /(?:[ \t\n]|\\\n)*/y, other: /(?:[ \t]|\\\n)*(?:\n[ \t\n]*$)?/y };
const ASSIGNMENT = /[A-Za-z_]\w*\+?=/y;
const CONTINUED_LINE = /\\\n/y;
/** Outside quotes, `\n`, `\t` and `\r` keep their backslash for the program, unlike in a shell: `sed s/,/\n/g`. */
const escaped = { outside: /(\\[ntr])|\\([\s\S])/y, inDoubleQuotes: /\\([\\"$`])/y, brace: /\\(\})/y };
const ordinary = { outside: /([^ \t\n'"\\$`|&;<>()*?[}]+|[ \t}])/y, inDoubleQuotes: /([^"\\$`}]+|[\\}])/y };
const SINGLE_QUOTED = /'([^']*)'/y;
const variable = new RegExp(
  String.raw`\$(?:([A-Za-z_]\w*(?!\w|\\\n)|[1-9])|\{([A-Za-z_]\w*|[1-9]\d*)(${PATH})?(\}|:-))`,
  'y',
);
/** A literal dollar sign: not special in any shell, or part of `${{`, an error in every shell. */
const dollar = {
  outside: /(\$(?=\{\{)|\$(?![\w({[@*#?$!\\'"-]))/y,
  inDoubleQuotes: /(\$(?=\{\{)|\$(?![\w({[@*#?$!\\-]))/y,
};

/**
 * Splits a command by POSIX quoting. Text for which a shell would do more than split goes to the shell as a whole; so
 * does text that a shell would refuse, so that the shell reports it. Unquoted `\n`, `\t` and `\r` stay two characters.
 * Source otherwise: POSIX.1-2017, Shell Command Language, 2.2 to 2.6.
 */
export function parseCommand(text: string): ParsedCommand {
  const cursor: Cursor = { text, at: 0, depth: 0 };
  const words: WordTemplate[] = [];
  for (skipSpace(cursor); cursor.at < text.length; skipSpace(cursor)) {
    const isAssignment = words.length === 0 && matchAt(ASSIGNMENT, text, cursor.at) !== null;
    const word = isAssignment || text[cursor.at] === '\n' ? null : readWord(cursor);
    if (word === null) return { kind: 'shell' };
    words.push(word);
  }
  const [first = []] = words;
  const isLiteral = first.every((piece) => typeof piece === 'string');
  return isLiteral && isShellWord(first.join('')) ? { kind: 'shell' } : { kind: 'words', words };
}

/**
 * Replaces the variables in the words; each value stays within its word. An unquoted word that consists only of empty
 * variables is dropped.
 */
export function expandWords(
  words: readonly WordTemplate[],
  scope: (name: string) => string | undefined,
): readonly string[] {
  return words.map((word) => expandWord(word, scope)).filter((word) => word !== null);
}

/** Whether there is a `${NAME[0]}` of an undefined name, which may be an array of the shell. */
export function hasForeignArray(words: readonly WordTemplate[], scope: (name: string) => string | undefined): boolean {
  return words.flat().some((piece) => {
    return typeof piece !== 'string' && piece.path?.path.startsWith('[') === true && scope(piece.name) === undefined;
  });
}

function expandWord(pieces: readonly WordPiece[], scope: (name: string) => string | undefined): string | null {
  let word: string | null = null;
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      word = (word ?? '') + piece;
      continue;
    }
    const { name, path, quoted, fallback } = piece;
    const value = path === undefined ? scope(name) : valueAt(name, path, scope);
    const part = value || (expandWord(fallback, scope) ?? (quoted ? '' : null));
    if (part !== null) word = (word ?? '') + part;
  }
  return word;
}

/** Skips blanks and continued lines; before the first word and after the last also line ends. */
function skipSpace(cursor: Cursor): void {
  take(cursor, cursor.at === 0 ? space.leading : space.other);
}

/** Null: the text needs a shell. */
function readWord(cursor: Cursor): WordTemplate | null {
  if (/[~#]/.test(cursor.text.charAt(cursor.at))) return null;
  const pieces: WordPiece[] = [];
  while (cursor.at < cursor.text.length && !/[ \t\n]/.test(cursor.text.charAt(cursor.at))) {
    if (!readUnquoted(cursor, pieces)) return null;
  }
  return pieces;
}

/** Reads at least one character outside quotes, or a whole quoted text; false: the text needs a shell. */
function readUnquoted(cursor: Cursor, pieces: WordPiece[]): boolean {
  const char = cursor.text.charAt(cursor.at);
  if (char === "'") return readLiteral(cursor, pieces, SINGLE_QUOTED);
  if (char === '"') return readDoubleQuoted(cursor, pieces);
  if (char === '\\') return take(cursor, CONTINUED_LINE) !== null || readLiteral(cursor, pieces, escaped.outside);
  if (char === '$') return readDollar(cursor, pieces, false);
  return readLiteral(cursor, pieces, ordinary.outside);
}

function readDoubleQuoted(cursor: Cursor, pieces: WordPiece[]): boolean {
  cursor.at++;
  pieces.push('');
  while (cursor.text[cursor.at] !== '"') {
    if (!readQuoted(cursor, pieces)) return false;
  }
  cursor.at++;
  return true;
}

/** Reads at least one character within double quotes; false: the text needs a shell. */
function readQuoted(cursor: Cursor, pieces: WordPiece[]): boolean {
  const char = cursor.text.charAt(cursor.at);
  if (char === '$') return readDollar(cursor, pieces, true);
  if (take(cursor, CONTINUED_LINE) !== null) return true;
  return readLiteral(cursor, pieces, escaped.inDoubleQuotes) || readLiteral(cursor, pieces, ordinary.inDoubleQuotes);
}

/** Reads a variable, or a dollar without meaning; false for everything else, which needs a shell. */
function readDollar(cursor: Cursor, pieces: WordPiece[], quoted: boolean): boolean {
  const found = take(cursor, variable);
  if (found === null) return readLiteral(cursor, pieces, quoted ? dollar.inDoubleQuotes : dollar.outside);
  const [, plain, braced = '', path, closing] = found;
  const fallback = closing === ':-' ? readFallback(cursor, quoted) : [];
  if (fallback === null) return false;
  const part = path && { path: { path, hasDefault: closing === ':-' } };
  pieces.push({ name: plain ?? braced, ...part, quoted, fallback });
  return true;
}

/** Reads the text between `:-` and its brace. */
function readFallback(cursor: Cursor, quoted: boolean): WordTemplate | null {
  const pieces: WordPiece[] = [];
  const isTilde = !quoted && cursor.text[cursor.at] === '~';
  if (isTilde || ++cursor.depth > DEEPEST_FALLBACK) return null;
  while (cursor.text[cursor.at] !== '}') {
    // Shells differ on double quotes within double quotes; a closing brace can be escaped there.
    const isRead = !quoted
      ? readUnquoted(cursor, pieces)
      : readLiteral(cursor, pieces, escaped.brace) || (cursor.text[cursor.at] !== '"' && readQuoted(cursor, pieces));
    if (!isRead) return null;
  }
  cursor.at++;
  cursor.depth--;
  return pieces;
}

function readLiteral(cursor: Cursor, pieces: WordPiece[], pattern: RegExp): boolean {
  const found = take(cursor, pattern);
  if (found === null) return false;
  pieces.push(found[1] ?? found[2] ?? '');
  return true;
}

function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  const found = matchAt(pattern, cursor.text, cursor.at);
  if (found !== null) cursor.at += found[0].length;
  return found;
}
