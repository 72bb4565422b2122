import { itemKeys, itemsInText, itemText, linesInText } from '#core/fan-out/items.ts';
import type { Item } from '#core/run/run.ts';
import type { FanOut, ItemScalar, ItemValue } from '#core/workflow.ts';
import { messageOf } from '#system/errors.ts';
import { expandHome } from '#system/files.ts';
import { EvaluationProblem } from './environment.ts';
import type { RunSecrets } from './run-secrets.ts';
import { evaluateText, fitsEnvironment, type StepEnvContext } from './variables.ts';

/** Evaluates the items of a fan-out. Throws an `EvaluationProblem` or a `PathProblem`. */
export async function readItems(
  { items, isMatrix, from }: FanOut,
  { secrets, cwd, ...context }: StepEnvContext & { readonly secrets: RunSecrets; readonly cwd: string },
): Promise<readonly Item[]> {
  const evaluate = (text: string) => evaluateText('parallel', text, context);
  const values =
    typeof items === 'string' ? await itemsOf(await evaluate(items)) : await Promise.all(items.map(expand));
  const unfit = values.findIndex((value) => !fitsEnvironment(itemText(value)));
  if (unfit !== -1) throw new EvaluationProblem(`item ${unfit} is too large to be a variable, or has a NUL character`);
  const isHidden = (text: string) => secrets.shared.mask(text) !== text;
  const keys = itemKeys(values, { isMatrix: isMatrix === true, isHidden });
  return values.map((value, index) => ({ key: keys[index] ?? String(index), value }));

  function itemsOf(text: string): Promise<readonly ItemValue[]> | readonly ItemValue[] {
    if (from === undefined) return itemsInText(text);
    return from === 'lines' ? linesInText(text) : matches(linesInText(text), cwd, context.scope('HOME'));
  }

  async function expand(value: ItemValue): Promise<ItemValue> {
    if (typeof value !== 'object') return scalar(value);
    const fields = Object.entries(value).map(async ([field, text]) => [field, await scalar(text)] as const);
    return Object.fromEntries(await Promise.all(fields));
  }

  async function scalar(value: ItemScalar): Promise<ItemScalar> {
    return typeof value === 'string' ? evaluate(value) : value;
  }
}

/** The paths that match any of the patterns, each once. */
async function matches(patterns: readonly string[], cwd: string, home: string | undefined): Promise<readonly string[]> {
  const { matchingPaths, MOST_PATHS } = await import('#system/glob.ts');
  const found = new Set<string>();
  for (const pattern of patterns) {
    const paths = await matchingPaths(expandHome(pattern, home), cwd).catch((error: unknown) => {
      throw new EvaluationProblem(`parallel: "${pattern}": ${messageOf(error)}`);
    });
    if (paths === null) throw new EvaluationProblem(`parallel: "${pattern}" matches more than ${MOST_PATHS} paths`);
    for (const path of paths) found.add(path);
  }
  return [...found];
}
