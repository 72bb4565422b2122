import { itemKeys, itemsInText, itemText } from '../../../core/fan-out/items.ts';
import type { Item } from '../../../core/run/run.ts';
import type { FanOut, ItemScalar, ItemValue } from '../../../core/workflow.ts';
import { EvaluationProblem } from './environment.ts';
import type { RunSecrets } from './run-secrets.ts';
import { evaluateText, type StepEnvContext } from './step-env.ts';
import { fitsEnvironment } from './variables.ts';

/**
 * Evaluates the items of a fan-out. Throws an `EvaluationProblem` or a `PathProblem` if they cannot be evaluated, or one
 * of them cannot be a variable.
 */
export async function readItems(
  { items, isMatrix }: FanOut,
  { secrets, ...context }: StepEnvContext & { readonly secrets: RunSecrets },
): Promise<readonly Item[]> {
  const evaluate = (text: string) => evaluateText('parallel', text, context);
  const values = typeof items === 'string' ? itemsInText(await evaluate(items)) : await Promise.all(items.map(expand));
  const unfit = values.findIndex((value) => !fitsEnvironment(itemText(value)));
  if (unfit !== -1) throw new EvaluationProblem(`item ${unfit} is too large to be a variable, or has a NUL character`);
  const isHidden = (text: string) => secrets.shared.mask(text) !== text;
  const keys = itemKeys(values, { isMatrix: isMatrix === true, isHidden });
  return values.map((value, index) => ({ key: keys[index] ?? String(index), value }));

  async function expand(value: ItemValue): Promise<ItemValue> {
    if (typeof value !== 'object') return scalar(value);
    const fields = Object.entries(value).map(async ([field, text]) => [field, await scalar(text)] as const);
    return Object.fromEntries(await Promise.all(fields));
  }

  async function scalar(value: ItemScalar): Promise<ItemScalar> {
    return typeof value === 'string' ? evaluate(value) : value;
  }
}
