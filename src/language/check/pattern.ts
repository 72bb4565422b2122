import type { RE2JS } from 're2js';
import { messageOf } from '#system/errors.ts';
import { MOST_PATTERN_SIZE, patternSize } from '#system/pattern-test.ts';

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

/**
 * Why a regular expression is not valid RE2 syntax, or too large; null if it is valid. The engine is loaded here only:
 * most files have no pattern, and it takes several milliseconds.
 */
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
