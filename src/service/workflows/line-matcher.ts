import { WfError } from '../../errors.ts';
import { patternProblem, patternSize } from '../../language/check/pattern.ts';
import { patternTest } from '../../pattern-test.ts';

/** Whether a line matches the search. */
export type LineMatcher = (line: string) => boolean;

/** The largest expression to search for, as `patternSize` measures it. */
const mostPatternSize = 10_000;
const metaCharacters = /[\\^$.|?*+()[\]{}]/;

/**
 * Creates a matcher for a regular expression in RE2 syntax, ignoring case. Throws a `WfError` `usage` if the expression
 * is invalid or too large.
 */
export function lineMatcher(expression: string): LineMatcher {
  if (!metaCharacters.test(expression)) {
    const text = expression.toLowerCase();
    return (line) => line.toLowerCase().includes(text);
  }
  return regexTest(expression, { ignoreCase: true });
}

/** The same for a regular expression alone. Throws as `lineMatcher` does. */
export function regexTest(expression: string, { ignoreCase }: { readonly ignoreCase: boolean }): LineMatcher {
  if (patternSize(expression) > mostPatternSize) throw new WfError('usage', 'the regular expression is too large');
  const problem = patternProblem(expression);
  if (problem !== null) throw new WfError('usage', `"${expression}" is not a valid regular expression: ${problem}`);
  return patternTest(ignoreCase ? `(?i)${expression}` : expression);
}
