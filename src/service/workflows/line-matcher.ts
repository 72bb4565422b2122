import { WfError } from '#system/errors.ts';
import { patternProblem, patternSize, patternTest } from '#system/pattern.ts';

/** Finds the lines of a text that match: their indexes, from 0. A line ends with a line feed. */
export type FindLines = (text: string) => readonly number[] | Promise<readonly number[]>;

/** Finds lines as `matchingLines` does, in a thread: rejects with a `WfError` `usage` if it takes too long. */
export type SearchLines = (pattern: string, text: string) => Promise<readonly number[]>;

/** The largest expression to search for, as `patternSize` measures it. */
const MOST_PATTERN_SIZE = 10_000;
const META_CHARACTERS = /[\\^$.|?*+()[\]{}]/;

/** Creates a search for a regular expression in RE2 syntax. Throws `usage` if it is invalid or too large. */
export function lineFinder(
  expression: string,
  { ignoreCase }: { readonly ignoreCase: boolean },
  search: SearchLines,
): FindLines {
  if (!META_CHARACTERS.test(expression)) return textFinder(expression, { ignoreCase });
  if (patternSize(expression) > MOST_PATTERN_SIZE) throw new WfError('usage', 'the regular expression is too large');
  const problem = patternProblem(expression);
  if (problem !== null) throw new WfError('usage', `"${expression}" is not a valid regular expression: ${problem}`);
  const pattern = ignoreCase ? `(?i)${expression}` : expression;
  return (text) => search(pattern, text);
}

/** Creates a search for a text. */
export function textFinder(text: string, { ignoreCase }: { readonly ignoreCase: boolean }): FindLines {
  const wanted = ignoreCase ? text.toLowerCase() : text;
  return (within) => indexesOf(within, (line) => (ignoreCase ? line.toLowerCase() : line).includes(wanted));
}

/** The indexes of the lines in which a valid pattern in RE2 syntax finds something. */
export function matchingLines(pattern: string, text: string): readonly number[] {
  return indexesOf(text, patternTest(pattern));
}

function indexesOf(text: string, test: (line: string) => boolean): readonly number[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.flatMap((line, index) => (test(line) ? [index] : []));
}
