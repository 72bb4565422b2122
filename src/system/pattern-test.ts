import type { RE2JS } from 're2js';

/** The last pattern: texts are often searched for the same one. */
let last: { readonly pattern: string; readonly compiled: RE2JS } | null = null;

/**
 * Returns a function that searches a text for a valid pattern in RE2 syntax. The engine is loaded here only: few files
 * have patterns, and it takes several milliseconds.
 */
export function patternTest(pattern: string): (text: string) => boolean {
  const { RE2JS: engine } = require('re2js') as { RE2JS: typeof RE2JS };
  if (last?.pattern !== pattern) last = { pattern, compiled: engine.compile(pattern) };
  const { compiled } = last;
  return (text) => compiled.matcher(text).find();
}

/** Whether a valid pattern finds something in a text. */
export function matchesPattern(pattern: string, text: string): boolean {
  return patternTest(pattern)(text);
}

/** The largest size of the patterns of a workflow together, as `patternSize` measures it: about half a second. */
export const MOST_PATTERN_SIZE = 100_000;

/** One letter, escape or class of a pattern, a count of repetitions, or a parenthesis. */
const PARTS = /\\[pP](?:\{[^}]*\}|[\s\S])|\\[\s\S]|\[\]?(?:\\[\s\S]|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;
/** Maximum repetitions that the engine accepts. */
const MOST_REPEATS = 1000;
/** Cost of a Unicode class such as `\pL`, and the factor for letters matched in upper and lower case. */
const UNICODE_CLASS = 50;
const FOLDED = 10;

/** The approximate cost of compiling a pattern: its letters, each as often as it is repeated. */
export function patternSize(pattern: string): number {
  const around: number[] = [];
  let size = 0;
  let last = 0;
  for (const [part, least, most] of pattern.matchAll(PARTS)) {
    if (part === '(') {
      around.push(size + 1);
      size = 0;
      continue;
    }
    if (part === ')') {
      last = size + 1;
      size = around.pop() ?? 0;
    } else if (least !== undefined) last *= Math.max(0, Math.min(MOST_REPEATS, Number(most || least)) - 1);
    else last = /^\\p/i.test(part) ? UNICODE_CLASS : part.length;
    size += last;
  }
  const total = around.reduce((sum, part) => sum + part, size);
  return /\(\?[a-zA-Z]*i/.test(pattern) ? total * FOLDED : total;
}
