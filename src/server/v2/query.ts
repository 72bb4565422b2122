import { isCalendarDay } from '../../core/calendar-day.ts';
import { HttpError } from '../reply/http-error.ts';

/** Reads a non-negative integer from the query; default: `fallback`. Throws an `HttpError` 400 for another value. */
export function numberIn(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null || text === '') return fallback;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : null;
  if (number !== null) return number;
  throw new HttpError(400, `"${name}" must be a whole number`);
}

/** Reads the number of an attempt, beginning with 1; null if it is not given. Throws an `HttpError` 400 for another value. */
export function attemptIn(query: URLSearchParams): number | null {
  if (!query.get('attempt')) return null;
  const attempt = numberIn(query, 'attempt', 0);
  if (attempt > 0) return attempt;
  throw new HttpError(400, '"attempt" must be from 1 on', { help: 'leave it out for the last attempt' });
}

/** Reads the size of a page. Throws an `HttpError` 400 unless it is 1 to `most`. */
export function limitIn(query: URLSearchParams, usual: number, most: number): number {
  const limit = numberIn(query, 'limit', usual);
  if (limit >= 1 && limit <= most) return limit;
  throw new HttpError(400, `"limit" must be from 1 to ${most}`);
}

/** Reads true or false; default: false. Throws an `HttpError` 400 for another value. */
export function flagIn(query: URLSearchParams, name: string): boolean {
  const word = query.get(name) ?? 'false';
  if (word === 'true' || word === '') return true;
  if (word === 'false') return false;
  throw new HttpError(400, `"${name}" must be true or false`);
}

/** Reads one of the given words; null if it is not given. Throws an `HttpError` 400 for another value. */
export function wordIn<Word extends string>(query: URLSearchParams, name: string, words: readonly Word[]): Word | null {
  const given = query.get(name);
  return given === null || given === '' ? null : asWord(given, name, words);
}

/** Reads several of the given words, separated by commas or in repeated parameters; null: none. Throws as `wordIn` does. */
export function wordsIn<Word extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly Word[],
): readonly Word[] | null {
  const given = query.getAll(name).flatMap((text) => text.split(',').filter((word) => word !== ''));
  return given.length === 0 ? null : given.map((word) => asWord(word, name, words));
}

/** Reads a timestamp in ISO 8601 as milliseconds since 1970-01-01 UTC; null if it is not given. Throws an `HttpError` 400. */
export function momentIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
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

function asWord<Word extends string>(given: string, name: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === given);
  if (word !== undefined) return word;
  throw new HttpError(400, `"${name}" cannot be "${given}"`, { help: `possible: ${words.join(', ')}` });
}
