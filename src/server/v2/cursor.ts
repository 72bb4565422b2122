import { HttpError } from '../reply/http-error.ts';

/** Where a listing goes on, as a text that clients only pass back. */
export function toCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** What a cursor stands for; null where none is given. Throws an `HttpError` 400 for a text that was never one. */
export function cursorIn(query: URLSearchParams): readonly unknown[] | null {
  const text = query.get('cursor');
  if (text === null || text === '') return null;
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(place)) return place;
  } catch {
    // It is told below.
  }
  throw badCursor();
}

/** The error for a cursor that this listing has not given. */
export function badCursor(): HttpError {
  return new HttpError(400, '"cursor" is none that was given here', { help: 'leave it out to begin at the start' });
}
