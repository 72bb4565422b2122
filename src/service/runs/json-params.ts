import { exactJsonObject } from '../../core/data/exact-json.ts';
import type { Param } from '../../core/run/run.ts';
import type { Json, Workflow } from '../../core/workflow.ts';

/**
 * Reads a JSON object as named parameters, as later versions of Dagu do: if it is the only value without a name, all
 * declared parameters have names, and one of its keys is such a name. Otherwise it is a value like any other, and the
 * same list is returned.
 */
export function namedParams({ params }: Pick<Workflow, 'params'>, given: readonly Param[]): readonly Param[] {
  const [json, ...others] = given.filter(({ name }) => name === null);
  if (json === undefined || others.length > 0 || params.some(({ name }) => name === null)) return given;
  const values = Object.entries(exactJsonObject(json.value) ?? {});
  if (!values.some(([key]) => params.some(({ name }) => name === key))) return given;
  const named = values.map(([name, value]) => ({ name, value: textOf(value) }));
  return given.flatMap((param) => (param === json ? named : [param]));
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
