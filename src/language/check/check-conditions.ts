import type { Path, Problem } from '../problem.ts';
import { problem } from '../problem.ts';
import type { RawConditions } from '../raw.ts';
import { asList } from '../raw.ts';
import type { SpecFile } from '../read/spec-file.ts';
import { spotIn } from '../read/spec-file.ts';
import { actionEntries } from './action-entries.ts';
import { patternProblem, patternSize } from './pattern.ts';

/** The most that the different patterns of a file may come to, in the measure of `patternSize`. */
const MOST_PATTERNS = 100_000;

type Expected = { readonly path: Path; readonly pattern: string };

/** Regular expressions after `re:` that are none, in the file's own preconditions and in those of its steps and handlers. */
export function conditionProblems(file: SpecFile): Problem[] {
  const all = [{ path: [], raw: file.raw }, ...actionEntries(file)].flatMap(({ path, raw }) =>
    patternsIn([...path, 'preconditions'], raw.preconditions),
  );
  const checked = new Map<string, string | null>();
  const problems: Problem[] = [];
  let size = 0;
  for (const { path, pattern } of all) {
    if (!checked.has(pattern)) {
      size += patternSize(pattern);
      if (size > MOST_PATTERNS) return [...problems, tooLarge(file, path)];
      checked.set(pattern, patternProblem(pattern));
    }
    const why = checked.get(pattern) ?? null;
    if (why !== null) problems.push(invalid(file, { path, pattern }, why));
  }
  return problems;
}

function patternsIn(path: Path, conditions: RawConditions | undefined): Expected[] {
  return asList(conditions).flatMap((condition, index) => {
    const expected = typeof condition === 'string' ? undefined : condition.expected;
    if (expected?.startsWith('re:') !== true) return [];
    const place = Array.isArray(conditions) ? [...path, index, 'expected'] : [...path, 'expected'];
    return [{ path: place, pattern: expected.slice(3) }];
  });
}

function invalid(file: SpecFile, { path, pattern }: Expected, why: string): Problem {
  const help = 'Patterns have the syntax of RE2: no backreferences and no look-around.';
  const message = `"re:${pattern}" is not a regular expression: ${why}`;
  return problem('invalid-pattern', spotIn(file, path), message, { help });
}

function tooLarge(file: SpecFile, path: Path): Problem {
  const help = 'Make them shorter, or let "{...}" repeat less.';
  const message = 'this regular expression, with those before it, is too large to be checked';
  return problem('invalid-pattern', spotIn(file, path), message, { help });
}
