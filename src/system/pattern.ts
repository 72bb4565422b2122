import type { RE2JS } from 're2js';
import { messageOf } from './errors.ts';

/** The last pattern: texts are often searched for the same one. */
let last: { readonly pattern: string; readonly compiled: RE2JS } | null = null;

/** Searches for a valid pattern in RE2 syntax. Loads the engine, which takes milliseconds: few files have patterns. */
export function patternTest(pattern: string): (text: string) => boolean {
  if (last?.pattern !== pattern) last = { pattern, compiled: compile(pattern) };
  const { compiled } = last;
  return (text) => compiled.matcher(text).find();
}

function compile(pattern: string): RE2JS {
  const { RE2JS: engine } = require('re2js') as { RE2JS: typeof RE2JS };
  return engine.compile(pattern);
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

/** Why a pattern is not compiled: it and those before it exceed the limit. */
export const TOO_LARGE =
  'it is too large, alone or with those before it in the file: reduce the repetitions in "{...}"';

/** The patterns checked in one load with their problems, and the size that is left for further ones. */
type Budget = { readonly known: Map<string, string | null>; readonly count: (size: number) => void; left: number };
let budget: Budget | null = null;

/**
 * Runs work that checks the patterns of one workflow: `patternProblem` refuses those that are too large together.
 * `count` receives the size of each distinct pattern before it is compiled.
 */
export function withPatternBudget<T>(count: (size: number) => void, work: () => T): T {
  const outer = budget;
  budget = { known: new Map(), count, left: MOST_PATTERN_SIZE };
  try {
    return work();
  } finally {
    budget = outer;
  }
}

/** Why a regular expression is not valid RE2 syntax, or too large; null if it is valid. */
export function patternProblem(pattern: string): string | null {
  const known = budget?.known.get(pattern);
  if (known !== undefined) return known;
  const size = patternSize(pattern);
  if (size > (budget?.left ?? MOST_PATTERN_SIZE)) return TOO_LARGE;
  if (budget !== null) budget.left -= size;
  budget?.count(size);
  const problem = syntaxProblem(pattern);
  budget?.known.set(pattern, problem);
  return problem;
}

function syntaxProblem(pattern: string): string | null {
  try {
    compile(pattern);
    return null;
  } catch (error) {
    const message = messageOf(error).replace(/\s+/g, ' ');
    return message.replace(/^error parsing regexp: ?/i, '').trim();
  }
}
