import { PATH } from './json-path.ts';
import { closingLine, type HereDocument, hereDocumentAt, matchAt } from './shell-words.ts';

/** A `${NAME.key` in shell code, where the shell would expand it: its range, without the closing brace. */
export type ShellPath = {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly path: string;
  /** Whether an operator for a missing value follows, such as `:-`. */
  readonly hasDefault: boolean;
};

/** A `$NAME` or `${NAME` that the shell would expand, and the offset of the name. `isHandled`: `:-` or the like follows. */
export type ShellVariable = { readonly name: string; readonly at: number; readonly isHandled: boolean };

/** The result of scanning shell code. */
export type ShellScan = {
  readonly paths: readonly ShellPath[];
  readonly variables: readonly ShellVariable[];
  /** The ranges of texts in single quotes, with these. */
  readonly singleQuoted: readonly (readonly [start: number, end: number])[];
  /** The index of an unclosed quote; null without one. */
  readonly openQuote: number | null;
  /** Whether everything is closed, and nothing in it could be misread. */
  readonly isClear: boolean;
};

/** How characters are read; `brace`: in `${...}` outside double quotes. */
type Mode = 'code' | 'quoted' | 'brace' | 'arithmetic';

/** What surrounds a position: double quotes, backticks, `(`, `${`, or a here-document. */
type Context = {
  readonly kind: 'double' | 'tick' | 'paren' | 'brace' | 'document';
  readonly at: number;
  readonly mode: Mode;
};

type Scanning = {
  readonly text: string;
  at: number;
  readonly open: Context[];
  readonly paths: ShellPath[];
  readonly variables: ShellVariable[];
  readonly singleQuoted: [number, number][];
  /** Here-documents whose body starts after this line. */
  readonly bodies: HereDocument[];
  openQuote: number | null;
  isClear: boolean;
};

/** Here-documents in commands within here-documents. */
const DEEPEST_NESTING = 100;

const pathHead = new RegExp(String.raw`\$\{([A-Za-z_]\w*|[1-9]\d*)(${PATH})(?=\}|(:?[-+=?])|[:%#/^,@])`, 'y');
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)(:?[-=?+])?|([A-Za-z_]\w*))/y;
/** `$((` of a calculation: that of a command, `$((a); b)`, does not end with `))`. */
const ARITHMETIC = /\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)/y;
const SINGLE_QUOTED = /'[^']*'?/y;
const ANSI_QUOTED = /\$'(?:\\[\s\S]|[^'\\])*'/y;
const COMMENT = /#[^\n]*/y;
/** A shell finds the end of backticks before it reads what is between them. */
const COMMENT_IN_TICKS = /#(?:\\[^\n]|[^\n`\\])*/y;
const PLAIN = /[^\\'"`$(){}#<\n]+/y;

/** Finds variables, JSON paths and unclosed quotes, taking quotes, substitutions, comments and here-documents into account. */
export function scanShell(text: string): ShellScan {
  const found = { paths: [], variables: [], singleQuoted: [], openQuote: null, isClear: true };
  const scanning: Scanning = { text, at: 0, open: [], bodies: [], ...found };
  while (scanning.at < text.length) step(scanning);
  const { paths, variables, singleQuoted, open, isClear } = scanning;
  const openQuote = scanning.openQuote ?? open.find(({ kind }) => kind === 'double')?.at ?? null;
  return { paths, variables, singleQuoted, openQuote, isClear: isClear && open.length === 0 && openQuote === null };
}

function step(scanning: Scanning): void {
  const { text, at, open } = scanning;
  const { kind, mode = 'code' } = open.at(-1) ?? {};
  const char = text.charAt(at);
  if (take(scanning, PLAIN) !== null) {
    // The `)` after a pattern of `case` closes nothing.
    if (mode === 'code' && open.length > 0 && /\bcase\s/.test(text.slice(at, scanning.at + 1)))
      scanning.isClear = false;
  } else if (char === '\\') scanning.at += 2;
  else if (char === '$') dollar(scanning, mode);
  else if (char === '"' && kind !== 'document') toggle(scanning, 'double', 'quoted');
  else if (char === '`') toggle(scanning, 'tick', 'code');
  else if ((char === '}' && kind === 'brace') || (char === ')' && kind === 'paren')) close(scanning);
  else if (char === "'" && (mode === 'code' || mode === 'brace')) {
    const quoted = take(scanning, SINGLE_QUOTED) ?? '';
    scanning.singleQuoted.push([at, scanning.at]);
    if (quoted.length === 1 || !quoted.endsWith("'")) scanning.openQuote ??= at;
  } else if (char === '(' && open.length > 0 && (mode === 'code' || mode === 'arithmetic'))
    push(scanning, 'paren', mode);
  else if (mode === 'code') code(scanning, char);
  else scanning.at++;
}

/** Handles a character that is special only outside quotes and braces. */
function code(scanning: Scanning, char: string): void {
  const { text, at, open, bodies } = scanning;
  if (char === '#' && (at === 0 || /[\s;|&(`]/.test(text.charAt(at - 1))))
    take(scanning, open.some(({ kind }) => kind === 'tick') ? COMMENT_IN_TICKS : COMMENT);
  else if (char === '<') {
    const document = hereDocumentAt(text, at);
    if (document !== null) bodies.push(document);
    scanning.at += document?.start.length ?? (text.startsWith('<<<', at) ? 3 : 1);
  } else if (char === '\n' && bodies.length > 0) skipBodies(scanning);
  else scanning.at++;
}

function dollar(scanning: Scanning, mode: Mode): void {
  const { text, at } = scanning;
  const [path, owner = '', steps = '', operator] = matchAt(pathHead, text, at) ?? [];
  if (path !== undefined) {
    const hasDefault = operator !== undefined;
    scanning.paths.push({ start: at, end: at + path.length, name: owner, path: steps, hasDefault });
  }
  const [variable = '', braced, fallback, name = braced] = matchAt(VARIABLE, text, at) ?? [];
  if (name !== undefined) {
    const start = at + (braced === undefined ? 1 : 2);
    scanning.variables.push({ name, at: start, isHandled: fallback !== undefined });
  }
  if (text[at + 1] === '{') push(scanning, 'brace', mode === 'quoted' ? mode : 'brace', 2);
  else if (text[at + 1] === '(') push(scanning, 'paren', matchAt(ARITHMETIC, text, at) ? 'arithmetic' : 'code', 2);
  else if (text[at + 1] === "'" && (mode === 'code' || mode === 'brace')) {
    if (take(scanning, ANSI_QUOTED) !== null) return;
    scanning.isClear = false;
    scanning.at++;
  } else scanning.at += variable.length || (/[\d?$#@*!-]/.test(text.charAt(at + 1)) ? 2 : 1);
}

/** In a here-document quotes are ordinary characters; if its word is quoted, so is everything else. */
function skipBodies(scanning: Scanning): void {
  const { text, open, openQuote } = scanning;
  scanning.at++;
  for (const document of scanning.bodies.splice(0)) {
    const closing = closingLine(text, scanning.at, document);
    if (closing === null || open.length > DEEPEST_NESTING) scanning.isClear = false;
    const { start, end } = closing ?? { start: text.length, end: text.length };
    const depth = open.length;
    if (!document.isLiteral && depth <= DEEPEST_NESTING) {
      push(scanning, 'document', 'quoted', 0);
      while (scanning.at < start) step(scanning);
      // A shell reads the commands in it later than the code around it.
      if (open.length > depth + 1 || scanning.openQuote !== openQuote) scanning.isClear = false;
      open.length = depth;
      scanning.openQuote = openQuote;
    }
    scanning.at = Math.min(end + 1, text.length);
  }
}

function toggle(scanning: Scanning, kind: 'double' | 'tick', mode: Mode): void {
  if (scanning.open.at(-1)?.kind === kind) close(scanning);
  else push(scanning, kind, mode);
}

function push(scanning: Scanning, kind: Context['kind'], mode: Mode, length = 1): void {
  scanning.open.push({ kind, at: scanning.at, mode });
  scanning.at += length;
}

function close(scanning: Scanning): void {
  scanning.open.pop();
  scanning.at++;
}

function take(scanning: Scanning, pattern: RegExp): string | null {
  const found = matchAt(pattern, scanning.text, scanning.at)?.[0] ?? null;
  if (found !== null) scanning.at += found.length;
  return found;
}
