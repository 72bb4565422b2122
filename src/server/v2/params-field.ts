import type { Param } from '../../core/run/run.ts';
import { parseParams } from '../../language/params.ts';
import type { Bodies } from '../generated/requests.mjs';

const named = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/;

type Given = NonNullable<Bodies['startRun']['params']>;

/** Converts the parameters of a body. Null, or an empty text: the defaults apply; an empty list or map: no parameters. */
export function readParams(given: Given | null): readonly Param[] | null {
  if (given === null) return null;
  if (typeof given === 'string') return given.trim() === '' ? null : parseParams(given);
  if (isList(given)) return given.map(entryOfList);
  return Object.entries(given).map(([name, value]) => ({ name, value: String(value) }));
}

type List = Extract<Given, readonly unknown[]>;

function isList(given: Exclude<Given, string>): given is List {
  return Array.isArray(given);
}

function entryOfList(entry: List[number]): Param {
  if (typeof entry !== 'string') {
    const { name = null, value, masked } = entry;
    return { name, value, ...(masked === undefined ? {} : { masked }) };
  }
  const [, name, value] = named.exec(entry) ?? [];
  return name === undefined ? { name: null, value: entry } : { name, value: value ?? '' };
}
