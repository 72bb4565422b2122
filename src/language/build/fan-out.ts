import type { FanOut, ItemScalar, ItemValue, Json, JsonObject } from '#core/workflow.ts';
import { asList, isJsonObject, type RawFanOut, type RawItem, type RawMatrix, type RawStep } from '../raw.ts';

/** The keys of a step that make it a fan-out. */
export type RawItems = Pick<RawStep, 'parallel' | 'matrix'>;

/** Default concurrency of a fan-out. */
const DEFAULT_CONCURRENT = 10;

/** `parallel` and `matrix` in any of their forms; null for a step that runs once. */
export function fanOutOf(raw: RawItems): FanOut | null {
  const { items, matrix, glob, lines, maxConcurrent, failFast = false } = rawFanOut(raw) ?? {};
  const policy = { maxConcurrent: typeof maxConcurrent === 'number' ? maxConcurrent : DEFAULT_CONCURRENT, failFast };
  if (matrix !== undefined) return { items: combinations(matrix), isMatrix: true, ...policy };
  if (glob !== undefined) return { items: asList(glob).join('\n'), from: 'glob', ...policy };
  if (lines !== undefined) return { items: lines, from: 'lines', ...policy };
  if (items === undefined) return null;
  return { items: typeof items === 'string' ? items : items.map(itemOf), ...policy };
}

/** `parallel` as a map, with a `matrix` of the step in it; null for a step that has neither. */
export function rawFanOut({ parallel, matrix }: RawItems): RawFanOut | null {
  if (parallel === undefined) return matrix === undefined ? null : { matrix };
  return typeof parallel === 'string' || isList(parallel) ? { items: parallel } : parallel;
}

/**
 * The combinations of a matrix, as in GitHub Actions: without those that match an entry of `exclude`; each entry of
 * `include` is added to the combinations of whose axes it changes none, else it is a combination of its own.
 */
export function combinations({ exclude = [], include = [], ...axes }: RawMatrix): ItemValue[] {
  let all: Combination[] = Object.keys(axes).length === 0 ? [] : [{}];
  for (const [axis, values] of Object.entries(axes)) {
    all = all.flatMap((one) => values.map((value) => ({ ...one, [axis]: scalarOf(value) })));
  }
  const excluded = exclude.map(combinationOf);
  const made = all.filter((one) => !excluded.some((entry) => matches(one, entry)));
  const added = made.map((one) => ({ ...one }));
  for (const entry of include.map(combinationOf)) {
    const changed = made.flatMap((one, index) => (agrees(one, entry) ? [index] : []));
    for (const index of changed) Object.assign(added[index] ?? {}, entry);
    if (changed.length === 0) added.push(entry);
  }
  return added;
}

type Combination = Record<string, ItemScalar>;

function itemOf(item: RawItem): ItemValue {
  return isJsonObject(item) ? combinationOf(item) : scalarOf(item);
}

function combinationOf(map: JsonObject): Combination {
  return Object.fromEntries(Object.entries(map).map(([field, value]) => [field, scalarOf(value)]));
}

function scalarOf(value: Json): ItemScalar {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

function matches(one: Combination, entry: Combination): boolean {
  return Object.entries(entry).every(([axis, value]) => one[axis] === value);
}

function agrees(one: Combination, entry: Combination): boolean {
  return Object.entries(entry).every(([axis, value]) => !Object.hasOwn(one, axis) || one[axis] === value);
}

function isList(parallel: RawFanOut | readonly RawItem[]): parallel is readonly RawItem[] {
  return Array.isArray(parallel);
}
