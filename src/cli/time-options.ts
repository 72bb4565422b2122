import { isCalendarDay } from '../core/calendar-day.ts';
import { WfError } from '../errors.ts';
import { parseSpan } from '../language/span.ts';

/**
 * A length of time such as `90m`, `7d` or `2d12h`, in milliseconds. Throws a `WfError` `usage`, also for a number without a
 * unit: seconds, as in a file, are hardly meant where runs are removed.
 */
export function spanOption(option: string, text: string): number {
  const span = /^[\d.]*$/.test(text) ? null : parseSpan(text);
  if (span !== null) return span;
  throw new WfError('usage', `${option} "${text}" is not a length of time`, {
    help: 'such as 30m, 12h, 2d12h, 7d or 2w',
  });
}

/**
 * A moment in ISO 8601, where the user is unless it names a zone; a day alone is its start or its end. In milliseconds
 * since 1970-01-01 UTC. Throws a `WfError` `usage`.
 */
export function parseInstant(option: string, text: string, day: 'start' | 'end'): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = day === 'start' ? 'T00:00:00' : 'T23:59:59.999';
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text)
    ? Date.parse(isDay ? text + time : text.replace(' ', 'T'))
    : Number.NaN;
  if (Number.isNaN(moment)) {
    throw new WfError('usage', `${option} "${text}" is not a time`, { help: 'such as 2026-03-01 or 2026-03-01T10:30' });
  }
  if (isCalendarDay(text.slice(0, 10))) return moment;
  throw new WfError('usage', `${option} "${text}" is not a time`, { help: 'that month has fewer days' });
}
