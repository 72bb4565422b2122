import { PATH } from './json-path.ts';
import { endsDocument, type HereDocument, hereDocumentAt, lineEnd, matchAt } from './shell-words.ts';

/** A `${NAME.key` in shell code, where the shell would expand it: its range, without the closing brace. */
export type ShellPath = {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly path: string;
  /** Whether an operator for a missing value follows, such as `:-`. */
  readonly hasDefault: boolean;
};

/** The result of scanning shell code. `openQuote` is the index of an unclosed quote, null if there is none. */
export type ShellScan = { readonly paths: readonly ShellPath[]; readonly openQuote: number | null };

/** The context at a position: code, double quotes, backticks, `(`, or `${`, which inherits the quoting around it. */
type Context = {
  readonly kind: 'double' | 'tick' | 'paren' | 'brace';
  readonly at: number;
  readonly isQuoted: boolean;
};

type Scanning = {
  readonly text: string;
  at: number;
  readonly open: Context[];
  readonly paths: ShellPath[];
  /** Here-documents whose body starts after this line. */
  readonly bodies: HereDocument[];
  openQuote: number | null;
};

const pathHead = new RegExp(String.raw`\$\{([A-Za-z_]\w*|[1-9]\d*)(${PATH})(?=\}|(:?[-+=?])|[:%#/^,@])`, 'y');
const SINGLE_QUOTED = /'[^']*'?/y;
const COMMENT = /#[^\n]*/y;
/** A shell finds the end of backticks before it reads what is between them. */
const COMMENT_IN_TICKS = /#(?:\\[^\n]|[^\n`\\])*/y;
const PLAIN = /[^\\'"`$(){}#<\n]+/y;

/** Finds JSON paths and unclosed quotes, taking quotes, substitutions, comments and here-documents into account. */
export function scanShell(text: string): ShellScan {
  const scanning: Scanning = { text, at: 0, open: [], paths: [], bodies: [], openQuote: null };
  while (scanning.at < text.length) step(scanning);
  const quote = scanning.open.find(({ kind }) => kind === 'double');
  return { paths: scanning.paths, openQuote: scanning.openQuote ?? quote?.at ?? null };
}

function step(scanning: Scanning): void {
  const { text, at, open } = scanning;
  const top = open.at(-1);
  const isQuoted = top?.isQuoted ?? false;
  const char = text.charAt(at);
  if (take(scanning, PLAIN) !== null) return;
  if (char === '\\') scanning.at += 2;
  else if (char === '$') dollar(scanning, isQuoted);
  else if (char === '"') toggle(scanning, 'double', true);
  else if (char === '`') toggle(scanning, 'tick', false);
  else if (char === '}' && top?.kind === 'brace') close(scanning);
  else if (isQuoted) scanning.at++;
  else code(scanning, char);
}

/** Handles a character that is special only outside double quotes. */
function code(scanning: Scanning, char: string): void {
  const { text, at } = scanning;
  const isInBrace = scanning.open.at(-1)?.kind === 'brace';
  if (char === "'") {
    const found = take(scanning, SINGLE_QUOTED) ?? '';
    if (found.length === 1 || !found.endsWith("'")) scanning.openQuote ??= at;
  } else if (char === '(') push(scanning, 'paren', 1, false);
  else if (char === ')' && scanning.open.at(-1)?.kind === 'paren') close(scanning);
  else if (char === '#' && !isInBrace && (at === 0 || /[\s;|&(`]/.test(text.charAt(at - 1))))
    take(scanning, scanning.open.some(({ kind }) => kind === 'tick') ? COMMENT_IN_TICKS : COMMENT);
  else if (char === '<') redirection(scanning);
  else if (char === '\n' && scanning.bodies.length > 0) skipBodies(scanning);
  else scanning.at++;
}

function dollar(scanning: Scanning, isQuoted: boolean): void {
  const { text, at } = scanning;
  const head = takePath(scanning, text, at, at);
  if (head !== null) push(scanning, 'brace', head.length, isQuoted);
  else if (text[at + 1] === '(') push(scanning, 'paren', 2, false);
  else if (text[at + 1] === '{') push(scanning, 'brace', 2, isQuoted);
  else scanning.at += text[at + 1] === '$' || text[at + 1] === '#' ? 2 : 1;
}

/** Notes the path at an index of a text, which is `start` in the whole text; returns it without its end. */
function takePath({ paths }: Scanning, text: string, at: number, start: number): string | null {
  const [head, name = '', path = '', operator] = matchAt(pathHead, text, at) ?? [];
  if (head === undefined) return null;
  paths.push({ start, end: start + head.length, name, path, hasDefault: operator !== undefined });
  return head;
}

function redirection(scanning: Scanning): void {
  const { text, at, bodies } = scanning;
  const document = hereDocumentAt(text, at);
  if (document !== null) bodies.push(document);
  scanning.at += document?.start.length ?? (text.startsWith('<<<', at) ? 3 : 1);
}

/** In a here-document quotes are ordinary characters; if its word is quoted, so is everything else. */
function skipBodies(scanning: Scanning): void {
  scanning.at++;
  for (const document of scanning.bodies.splice(0)) {
    while (scanning.at < scanning.text.length) {
      const stop = lineEnd(scanning.text, scanning.at);
      const line = scanning.text.slice(scanning.at, stop);
      if (!document.isLiteral) pathsOfLine(scanning, line);
      scanning.at = Math.min(stop + 1, scanning.text.length);
      if (endsDocument(line, document)) break;
    }
  }
}

function pathsOfLine(scanning: Scanning, line: string): void {
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === '$') takePath(scanning, line, at, scanning.at + at);
  }
}

function toggle(scanning: Scanning, kind: 'double' | 'tick', isQuoted: boolean): void {
  if (scanning.open.at(-1)?.kind === kind) close(scanning);
  else push(scanning, kind, 1, isQuoted);
}

function push(scanning: Scanning, kind: Context['kind'], length: number, isQuoted: boolean): void {
  scanning.open.push({ kind, at: scanning.at, isQuoted });
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
