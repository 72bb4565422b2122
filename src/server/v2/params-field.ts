import type { Param } from '../../core/run/run.ts';
import { parseParams } from '../../language/params.ts';
import { HttpError } from '../reply/http-error.ts';

const named = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/;
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Reads parameters from a body: one text, a list, or a map. Null if `params` is missing, so that defaults apply; an
 * empty list or map means no parameters. Throws an `HttpError` 400 for another value.
 */
export function paramsField(value: unknown): readonly Param[] | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value.trim() === '' ? null : parseParams(value);
  if (Array.isArray(value)) return value.map(entryOfList);
  if (typeof value === 'object') return Object.entries(value).map(entryOfMap);
  throw new HttpError(400, '"params" must be a text, a list or a map');
}

function entryOfList(entry: unknown): Param {
  if (typeof entry === 'string') {
    const [, name, value] = named.exec(entry) ?? [];
    return name === undefined ? { name: null, value: entry } : { name, value: value ?? '' };
  }
  if (typeof entry === 'object' && entry !== null && 'value' in entry && typeof entry.value === 'string') {
    const { value } = entry;
    const masked = 'masked' in entry && entry.masked === true ? { masked: true as const } : {};
    const name = 'name' in entry ? entry.name : null;
    if (name === null) return { name, value, ...masked };
    if (typeof name === 'string') return { name: checkedName(name), value, ...masked };
  }
  throw new HttpError(400, 'an entry of "params" must be a text, or have "name" and "value"');
}

function entryOfMap([name, value]: [string, unknown]): Param {
  if (typeof value === 'string') return { name: checkedName(name), value };
  if (typeof value === 'number' || typeof value === 'boolean') return { name: checkedName(name), value: String(value) };
  throw new HttpError(400, `the parameter "${name}" must be a text`);
}

function checkedName(name: string): string {
  if (variable.test(name)) return name;
  throw new HttpError(400, `"${name}" is not the name of a parameter`);
}
