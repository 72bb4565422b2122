import type { ScalarNode } from '../node.ts';
import { DOUBLE_QUOTE, unusual } from './characters.ts';

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
export function quotedAt(text: string, start: number): ScalarNode {
  return text.charCodeAt(start) === DOUBLE_QUOTE ? doubleQuoted(text, start) : singleQuoted(text, start);
}

function doubleQuoted(text: string, start: number): ScalarNode {
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
