import { numberValues } from '#core/step-numbers.ts';
import { namesIn, previewText } from '#core/words/interpolate.ts';
import type { NumberKey, NumberText, NumberValue, RunNumberKey } from '#core/workflow.ts';

/** Numbers that variables give, as far as they are known before a run. */
export type PlannedNumbers<Key extends string> = {
  readonly values: readonly NumberValue<Key>[];
  /** Known only during a run. */
  readonly left: readonly NumberText<Key>[];
  /** The problems of known values. */
  readonly problems: readonly string[];
};

/** Evaluates numbers before a run. `scope` returns `${NAME}` for a value that is known only during a run. */
export function plannedNumbers<Key extends NumberKey | RunNumberKey>(
  numbers: readonly NumberText<Key>[],
  scope: (name: string) => string | undefined,
): PlannedNumbers<Key> {
  const isKnown = ({ text }: NumberText<Key>) =>
    [...namesIn(text)].every((name) => scope(name) !== undefined) && !/[$`]/.test(previewText(text, scope));
  const read = numbers.filter(isKnown).map((number) => numberValues([number], scope));
  return {
    values: read.flatMap((each) => ('values' in each ? each.values : [])),
    left: numbers.filter((number) => !isKnown(number)),
    problems: read.flatMap((each) => ('problem' in each ? [each.problem] : [])),
  };
}
