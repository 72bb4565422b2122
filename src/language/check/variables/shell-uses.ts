import { bareNames } from '#core/words/shell-words.ts';

/** A variable in a text: its name, and the offset of the name. */
export type VariableUse = { readonly name: string; readonly at: number };

/** The state of the scanner. `closers` are the open quotes and substitutions, outermost first. */
type Scan = {
  readonly text: string;
  at: number;
  readonly closers: string[];
  readonly uses: VariableUse[];
  /** Names with `:-`, `-`, `:?` and the like, which handle a missing value. */
  readonly handled: Set<string>;
  /** Here-documents whose text starts after the next line end. */
  readonly pending: { readonly end: string; readonly hasTabs: boolean; readonly isLiteral: boolean }[];
};

/** Maximum nesting; text written by hand does not exceed it. */
const MAX_NESTING = 100;

/**
 * The text sets variables in ways that cannot be seen by reading it: it reads another file, or builds names as it
 * runs.
 */
const SETS_UNSEEN =
  /(?:^|[\s;&|({`])(?:\.|source|eval)\s|\b(?:export|declare|typeset|readonly|local)\s+(?:-\w+\s+)*["']?[$`]|\bprintf\s+-v\s+["']?\$/;

/** The text tests whether the variable has a value. */
const TESTED = /-[nz]\s+"?\$\{?([A-Za-z_]\w*)/g;

/** These match at the dollar. */
const PLAIN = /\$([A-Za-z_]\w*)/y;
const BRACED = /\$\{([#!]?)([A-Za-z_]\w*)(:?[-=?+])?/y;
const HERE_DOCUMENT = /<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|(\\?)([\w.-]+))/y;
const WORD_START = /[\s;&|(]/;

/**
 * Finds variables that a shell would expand in a text and the text does not set. Null if they cannot be
 * determined: the text reads another file (`source`), builds code (`eval`), or is unbalanced.
 */
export function shellUses(text: string): readonly VariableUse[] | null {
  if (SETS_UNSEEN.test(text)) return null;
  const scan: Scan = { text, at: 0, closers: [], uses: [], handled: new Set(), pending: [] };
  while (scan.at < text.length) if (!step(scan)) return null;
  if (scan.closers.length > 0) return null;
  const own = bareNames(text);
  for (const [, name = ''] of text.matchAll(TESTED)) own.add(name);
  return scan.uses.filter(({ name }) => !own.has(name) && !scan.handled.has(name));
}

/** Reads the next unit; false: give up. */
function step(scan: Scan): boolean {
  const { text, closers } = scan;
  const char = text.charAt(scan.at);
  const closer = closers.at(-1);
  const isQuoted = closer === '"' || closer === '))';
  if (char === '\\') return move(scan, 2);
  if (closer !== undefined && text.startsWith(closer, scan.at)) return close(scan, closer);
  if (char === '$') return dollar(scan, isQuoted);
  if (char === '`') return open(scan, '`', 1);
  if (isQuoted) return move(scan, 1);
  if (char === "'") return closer === '}' && closers.includes('"') ? move(scan, 1) : literal(scan, scan.at + 1);
  if (char === '"') return open(scan, '"', 1);
  if (closer === '}') return move(scan, 1);
  return code(scan, char);
}

/** Outside quotes: comments, here-documents, subshells. */
function code(scan: Scan, char: string): boolean {
  const { text, at } = scan;
  if (char === '\n') return lineEnd(scan);
  if (char === '#' && (at === 0 || WORD_START.test(text.charAt(at - 1)))) {
    const end = text.indexOf('\n', at);
    return move(scan, (end === -1 ? text.length : end) - at);
  }
  if (char === '<' && text.startsWith('<<', at) && text[at + 2] !== '<') return hereDocument(scan);
  if (text.startsWith('<<<', at)) return move(scan, 3);
  if (scan.closers.length === 0) return move(scan, 1);
  // The `)` after a pattern of `case` closes nothing.
  if (/^case\s/.test(text.slice(at, at + 5)) && !/\w/.test(text.charAt(at - 1))) return false;
  return char === '(' ? open(scan, ')', 1) : move(scan, 1);
}

function dollar(scan: Scan, isQuoted: boolean): boolean {
  const { text, at } = scan;
  if (text.startsWith('$((', at)) return open(scan, '))', 3);
  if (text.startsWith('$(', at)) return open(scan, ')', 2);
  if (text.startsWith("$'", at) && !isQuoted) return ansiQuoted(scan);
  BRACED.lastIndex = at;
  const braced = BRACED.exec(text);
  if (braced !== null) {
    const [whole, prefix, name = '', operator] = braced;
    if (operator !== undefined && prefix === '') scan.handled.add(name);
    else if (prefix === '') scan.uses.push({ name, at: at + 2 });
    return open(scan, '}', whole.length);
  }
  if (text.startsWith('${', at)) return open(scan, '}', 2);
  PLAIN.lastIndex = at;
  const plain = PLAIN.exec(text);
  if (plain === null) return move(scan, /[\w?$#@*!-]/.test(text.charAt(at + 1)) ? 2 : 1);
  scan.uses.push({ name: plain[1] ?? '', at: at + 1 });
  return move(scan, plain[0].length);
}

function hereDocument(scan: Scan): boolean {
  HERE_DOCUMENT.lastIndex = scan.at;
  const found = HERE_DOCUMENT.exec(scan.text);
  if (found === null) return move(scan, 2);
  const [whole, dash, single, double, backslash, plain] = found;
  const end = single ?? double ?? plain ?? '';
  scan.pending.push({ end, hasTabs: dash === '-', isLiteral: plain === undefined || backslash !== '' });
  return move(scan, whole.length);
}

/** The texts of here-documents: variables are replaced in them, quotes are ordinary characters. */
function lineEnd(scan: Scan): boolean {
  scan.at += 1;
  for (const { end, hasTabs, isLiteral } of scan.pending.splice(0)) {
    const from = scan.at;
    const length = documentLength(scan.text, from, { end, hasTabs });
    if (length === null) return false;
    if (!isLiteral) {
      const body = scan.text.slice(from, from + length);
      const inner: Scan = { ...scan, text: `${body}"`, at: 0, closers: ['"'], pending: [] };
      while (inner.at < body.length) {
        if (body[inner.at] === '"' && inner.closers.length === 1) inner.at += 1;
        else if (!stepIn(inner, scan, from)) return false;
      }
      if (inner.closers.length > 1) return false;
    }
    scan.at = from + length;
  }
  return true;
}

/** Reads a unit within a here-document; its uses get offsets in the whole text. */
function stepIn(inner: Scan, outer: Scan, from: number): boolean {
  const before = outer.uses.length;
  if (!step(inner)) return false;
  for (const { name, at } of outer.uses.splice(before)) outer.uses.push({ name, at: at + from });
  return true;
}

/** The length up to the closing line of the document; null if there is none. */
function documentLength(
  text: string,
  from: number,
  { end, hasTabs }: { readonly end: string; readonly hasTabs: boolean },
): number | null {
  for (let at = from; at < text.length; ) {
    const found = text.indexOf('\n', at);
    const lineEnd = found === -1 ? text.length : found;
    const line = text.slice(at, lineEnd);
    if ((hasTabs ? line.replace(/^\t+/, '') : line) === end) return at - from;
    at = lineEnd + 1;
  }
  return null;
}

function literal(scan: Scan, from: number): boolean {
  const end = scan.text.indexOf("'", from);
  return end !== -1 && move(scan, end + 1 - scan.at);
}

function ansiQuoted(scan: Scan): boolean {
  const quoted = /\$'(?:\\[\s\S]|[^'\\])*'/y;
  quoted.lastIndex = scan.at;
  const length = quoted.exec(scan.text)?.[0].length;
  return length !== undefined && move(scan, length);
}

function open(scan: Scan, closer: string, length: number): boolean {
  scan.closers.push(closer);
  return scan.closers.length <= MAX_NESTING && move(scan, length);
}

function close(scan: Scan, closer: string): boolean {
  scan.closers.pop();
  return move(scan, closer.length);
}

function move(scan: Scan, length: number): boolean {
  scan.at += length;
  return true;
}
