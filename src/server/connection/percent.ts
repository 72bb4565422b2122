import { HttpError } from '../route.ts';

/** Decodes one segment of a path: `group%2Fname` is `group/name`. Throws an `HttpError` 400 for an invalid encoding. */
export function decodeSegment(text: string): string {
  return decode(text, 'the path');
}

/**
 * Decodes the fields of a query or of a form body. Throws an `HttpError` 400 where `URLSearchParams` would guess: for a
 * stray `%` and for bytes that are not UTF-8.
 */
export function decodeFields(text: string, what: string): URLSearchParams {
  if (text.includes('%')) decode(text, what);
  return new URLSearchParams(text);
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(400, `${what} is not encoded correctly`, {
      help: 'a "%" must be followed by two hexadecimal digits, in UTF-8',
    });
  }
}
