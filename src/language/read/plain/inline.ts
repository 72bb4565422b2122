import type { MapEntry, Node, ScalarNode } from '../node.ts';

/** Codes of the characters with a meaning in YAML. */
export const TAB = 0x09;
export const NEWLINE = 0x0a;
export const SPACE = 0x20;
const DOUBLE_QUOTE = 0x22;
export const HASH = 0x23;
const SINGLE_QUOTE = 0x27;
const COMMA = 0x2c;
export const DASH = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
export const GREATER = 0x3e;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
export const PIPE = 0x7c;
const CLOSE_BRACE = 0x7d;

/** Thrown at everything that is left to the package `yaml`; without a stack, which would take longer than that. */
class Unusual {}
export const unusual = new Unusual();

/** The offset of the first character from here on that is not a space. */
export function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}

const DECIMAL = /^[-+]?[0-9]+$/;
const OCTAL = /^0o[0-7]+$/;
const HEXADECIMAL = /^0x[0-9a-fA-F]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INFINITY = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

/** The value of an unquoted text by the core schema of YAML 1.2. */
function coreValue(text: string): string | number | boolean | null {
  switch (text) {
    case '':
    case '~':
    case 'null':
    case 'Null':
    case 'NULL':
      return null;
    case 'true':
    case 'True':
    case 'TRUE':
      return true;
    case 'false':
    case 'False':
    case 'FALSE':
      return false;
    default:
      return mayBeNumber(text.charCodeAt(0)) ? numberOrText(text) : text;
  }
}

/** Whether a number can start with this: a digit, a sign or a point. */
function mayBeNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e;
}

function numberOrText(text: string): string | number {
  if (DECIMAL.test(text)) return Number.parseInt(text, 10);
  if (OCTAL.test(text)) return Number.parseInt(text.slice(2), 8);
  if (HEXADECIMAL.test(text)) return Number.parseInt(text.slice(2), 16);
  if (FLOAT.test(text)) return Number.parseFloat(text);
  if (INFINITY.test(text)) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return NOT_A_NUMBER.test(text) ? Number.NaN : text;
}

/** A double-quoted text on one line, without characters given by their numbers. */
const ESCAPED = /"(?:[^"\\\n]|\\[^xuU\n])*"/y;

const escapes: { readonly [letter: string]: string } = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  '\t': '\t',
};

/** A text in quotes on one line. */
function quotedAt(text: string, start: number): ScalarNode {
  if (text.charCodeAt(start) === SINGLE_QUOTE) return singleQuoted(text, start);
  const quote = text.indexOf('"', start + 1);
  const value = text.slice(start + 1, quote);
  if (quote === -1 || value.includes('\n')) throw unusual;
  return value.includes('\\') ? escaped(text, start) : scalar(value, start, quote + 1);
}

function escaped(text: string, start: number): ScalarNode {
  ESCAPED.lastIndex = start;
  if (!ESCAPED.test(text)) throw unusual;
  const end = ESCAPED.lastIndex;
  const value = text.slice(start + 1, end - 1).replace(/\\(.)/gs, (_, letter: string) => {
    const meant = escapes[letter];
    if (meant === undefined) throw unusual;
    return meant;
  });
  return scalar(value, start, end);
}

/** Two quotes stand for one. */
function singleQuoted(text: string, start: number): ScalarNode {
  let quote = text.indexOf("'", start + 1);
  const hasQuotes = text.startsWith("''", quote);
  while (text.startsWith("''", quote)) quote = text.indexOf("'", quote + 2);
  const value = text.slice(start + 1, quote);
  if (quote === -1 || value.includes('\n')) throw unusual;
  return scalar(hasQuotes ? value.replaceAll("''", "'") : value, start, quote + 1);
}

function scalar(value: string, start: number, end: number): ScalarNode {
  return { kind: 'scalar', start, end, anchor: undefined, value, text: value, isPlain: false };
}

/** Maximum nesting of brackets and braces. */
const DEEPEST_FLOW = 20;
/** Maximum length of a key, below that of YAML. */
const LONGEST_KEY = 1000;
/** Characters that begin something other than a plain text, or a text only in some places. */
const INDICATORS = '?:,[]{}#&*!|>\'"%@` \t\n\ufeff';

/** A value on one line: what follows it on the line is for the caller to check. */
export function valueAt(text: string, at: number): Node {
  const first = text.charCodeAt(at);
  if (first === OPEN_BRACKET || first === OPEN_BRACE) return flowAt(text, at, 1);
  if (isQuote(first)) return quotedAt(text, at);
  const end = plainEnd(text, at);
  if (text.charCodeAt(end) === COLON) throw unusual;
  return plainScalar(text, at, end);
}

/** The key that starts at an offset, without its colon; null if the line or list entry has no key. */
export function keyAt(text: string, at: number): ScalarNode | null {
  const first = text.charCodeAt(at);
  if (isQuote(first)) return keyOrNull(text, quotedAt(text, at));
  if (first === DASH || first === DOT || !startsPlain(text, at)) return null;
  const end = plainEnd(text, at);
  return text.charCodeAt(end) === COLON ? keyOrNull(text, plainScalar(text, at, end)) : null;
}

function keyOrNull(text: string, key: ScalarNode): ScalarNode | null {
  if (key.end - key.start > LONGEST_KEY) throw unusual;
  return text.charCodeAt(key.end) === COLON && isSpace(text.charCodeAt(key.end + 1)) ? key : null;
}

function plainScalar(text: string, start: number, end: number): ScalarNode {
  const source = text.slice(start, end);
  return { kind: 'scalar', start, end, anchor: undefined, value: coreValue(source), text: source, isPlain: true };
}

/** The end of an unquoted text: of its last character before a comment or the end of the line, or its colon as a key. */
function plainEnd(text: string, from: number): number {
  if (!startsPlain(text, from)) throw unusual;
  let end = from;
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code > COLON) end = at + 1;
    else if (code === NEWLINE) return end;
    else if (code === SPACE) {
      if (text.charCodeAt(at + 1) === HASH) return end;
    } else if (code === TAB || (code === COLON && isSpace(text.charCodeAt(at + 1)))) {
      if (code === TAB || end < at) throw unusual;
      return end;
    } else end = at + 1;
  }
}

function startsPlain(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== DASH) return !INDICATORS.includes(text.charAt(at));
  const next = text.charCodeAt(at + 1);
  return !isSpace(next) && !isFlowIndicator(next);
}

/** `[a, "b"]`, `{a: b}` or `[a: b]` on one line. */
function flowAt(text: string, start: number, depth: number): Node {
  if (depth > DEEPEST_FLOW) throw unusual;
  const isList = text.charCodeAt(start) === OPEN_BRACKET;
  const close = isList ? CLOSE_BRACKET : CLOSE_BRACE;
  const items: Node[] = [];
  const entries: MapEntry[] = [];
  let at = afterSpaces(text, start + 1);
  while (text.charCodeAt(at) !== close) {
    const entry = flowEntryAt(text, at, depth);
    if (!isList && entry.key === null) throw unusual;
    const { key, value } = entry;
    if (!isList) entries.push(entry);
    else if (key === null) items.push(value);
    else items.push({ kind: 'map', start: key.start, end: value.end, anchor: undefined, entries: [{ key, value }] });
    at = afterSpaces(text, value.end);
    if (text.charCodeAt(at) === COMMA) at = afterSpaces(text, at + 1);
    else if (text.charCodeAt(at) !== close) throw unusual;
  }
  const range = { start, end: at + 1, anchor: undefined };
  return isList ? { kind: 'list', ...range, items } : { kind: 'map', ...range, entries };
}

/** A value in brackets or braces, with its key if it has one. */
function flowEntryAt(text: string, at: number, depth: number): { key: ScalarNode | null; value: Node } {
  const value = flowValueAt(text, at, depth);
  if (value.kind !== 'scalar' || text.charCodeAt(value.end) !== COLON) return { key: null, value };
  const isColon = !value.isPlain || text.charCodeAt(value.end + 1) === SPACE;
  if (!isColon || value.end - value.start > LONGEST_KEY) throw unusual;
  return { key: value, value: flowValueAt(text, afterSpaces(text, value.end + 1), depth) };
}

function flowValueAt(text: string, at: number, depth: number): Node {
  const first = text.charCodeAt(at);
  if (first === OPEN_BRACKET || first === OPEN_BRACE) return flowAt(text, at, depth + 1);
  return isQuote(first) ? quotedAt(text, at) : plainScalar(text, at, flowPlainEnd(text, at));
}

/** The end of an unquoted text in brackets or braces. */
function flowPlainEnd(text: string, from: number): number {
  if (!startsPlain(text, from)) throw unusual;
  let end = from;
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    const next = text.charCodeAt(at + 1);
    if (isFlowIndicator(code) || (code === COLON && (isSpace(next) || isFlowIndicator(next)))) return end;
    if (code === NEWLINE || code === TAB || (code === SPACE && next === HASH)) throw unusual;
    if (code !== SPACE) end = at + 1;
  }
}

function isQuote(code: number): boolean {
  return code === DOUBLE_QUOTE || code === SINGLE_QUOTE;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === TAB;
}

function isFlowIndicator(code: number): boolean {
  return (
    code === COMMA || code === OPEN_BRACKET || code === CLOSE_BRACKET || code === OPEN_BRACE || code === CLOSE_BRACE
  );
}
