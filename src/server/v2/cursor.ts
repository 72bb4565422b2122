import { HttpError } from '../reply/http-error.ts';

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
    // Reported below.
  }
  throw badCursor();
}

/** Creates the error for an unknown cursor. */
export function badCursor(): HttpError {
  return new HttpError(400, 'unknown cursor', { help: 'leave it out to begin at the start' });
}
