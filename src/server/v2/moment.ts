import { isCalendarDay } from '../../core/calendar-day.ts';
import { HttpError } from '../reply/http-error.ts';

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
