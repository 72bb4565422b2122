import type { Param } from '#core/run/run.ts';
import { isCalendarDay } from '#core/time-text.ts';
import { parseParams } from '#language/params.ts';
import type { Bodies } from '../generated/requests.mjs';
import { HttpError } from '../route.ts';

/** Encodes the position of a listing as an opaque text. */
export function toCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** Decodes a cursor; null for null. Throws an `HttpError` 400 for an invalid text. */
export function readCursor(text: string | null): readonly unknown[] | null {
  if (text === null) return null;
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(place)) return place;
  } catch {
    // The error is thrown below.
  }
  throw badCursor();
}

/** Creates the error for an unknown cursor. */
export function badCursor(): HttpError {
  return new HttpError(400, 'unknown cursor', { help: 'leave it out to begin at the start' });
}

/**
 * Reads the parameter `name`, a timestamp in ISO 8601, as milliseconds since 1970-01-01 UTC; null for null. Throws an
 * `HttpError` 400.
 */
export function readMoment(name: string, text: string | null): number | null {
  if (text === null) return null;
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text);
  const at = isMoment ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new HttpError(400, `"${name}" is not a timestamp`, {
      help: 'a timestamp is 2026-03-01T12:00:00Z, with its zone, or 2026-03-01 for the start of that day in UTC',
    });
  }
  if (isCalendarDay(text.slice(0, 10))) return at;
  throw new HttpError(400, `"${name}" cannot be "${text}"`, { help: 'that month has fewer days' });
}

type Period<At> = { readonly from: At; readonly to: At };

/** Throws an `HttpError` 400 for a period that ends before it begins, which nothing can be in; null is an open end. */
export function requirePeriod<At extends number | null>({ from, to }: Period<At>): Period<At> {
  if (from === null || to === null || from <= to) return { from, to };
  throw new HttpError(400, '"to" is before "from"', { help: '"from" is the start of the period, "to" its end' });
}

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
