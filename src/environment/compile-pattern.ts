import type { RE2JS } from 're2js';
import { messageOf } from '#system/errors.ts';
import { MOST_PATTERN_SIZE, patternSize } from '#system/pattern.ts';
import { EvaluationProblem } from './environment.ts';

/**
 * Compiles the pattern of a text that starts with `re:`. Throws an `EvaluationProblem` for an invalid or too large one: patterns in the
 * file were checked at load time, but one from a variable is known only now.
 */
export async function compilePattern(text: string): Promise<RE2JS> {
  if (patternSize(text) > MOST_PATTERN_SIZE)
    throw new EvaluationProblem('the regular expression is too large: reduce the repetitions in "{...}"');
  const { RE2JS: engine } = await import('re2js');
  try {
    return engine.compile(text.slice('re:'.length));
  } catch (error) {
    const reason = messageOf(error).replace(/^error parsing regexp:\s*/i, '');
    throw new EvaluationProblem(`"${text}" is not a regular expression: ${reason}`);
  }
}
