import type { RE2JS } from 're2js';
import { messageOf } from '../../errors.ts';

/**
 * Why a regular expression is not valid RE2 syntax; null if it is valid. The engine is loaded here only: most files
 * have no pattern, and it takes several milliseconds.
 */
export function patternProblem(pattern: string): string | null {
  const { RE2JS: engine } = require('re2js') as { RE2JS: typeof RE2JS };
  try {
    engine.compile(pattern);
    return null;
  } catch (error) {
    const message = messageOf(error);
    return message
      .replace(/^error parsing regexp:\s*/i, '')
      .replace(/\s+/g, ' ')
      .trim();
  }
}

/** One letter, escape or class of a pattern, a count of repetitions, or a parenthesis. */
const PARTS = /\\[pP]|\\[\s\S]|\[\]?(?:\\[\s\S]|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;
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
    else last = part.toLowerCase() === '\\p' ? UNICODE_CLASS : part.length;
    size += last;
  }
  const total = around.reduce((sum, part) => sum + part, size);
  return /\(\?[a-zA-Z]*i/.test(pattern) ? total * FOLDED : total;
}
