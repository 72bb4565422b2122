import { isCalendarDay, parseSpan } from '#core/time-text.ts';
import { WfError } from '#system/errors.ts';

/**
 * Parses a duration such as `90m`, `7d` or `2d12h` to milliseconds. Throws a `WfError` `usage`, also for a number without a
 * unit: seconds, the unit in files, are unlikely to be intended where runs are removed.
 */
export function spanOption(option: string, text: string): number {
  const span = /^[\d.]*$/.test(text) ? null : parseSpan(text);
  if (span !== null) return span;
  throw new WfError('usage', `${option} "${text}" is not a duration`, {
    help: 'such as 30m, 12h, 2d12h, 7d or 2w',
  });
}

/**
 * Parses a time in ISO 8601, in local time unless it names a zone; a day alone is its start or its end. Returns milliseconds
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
