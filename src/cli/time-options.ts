import { isCalendarDay } from '../core/calendar-day.ts';
import { WfError } from '../errors.ts';

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** A length of time such as `90m` or `7d`, in milliseconds. Throws a `WfError` `usage`. */
export function parseSpan(option: string, text: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Number(count) * unitMs[unit as keyof typeof unitMs];
  throw new WfError('usage', `${option} "${text}" is not a length of time`, { help: 'such as 30m, 12h, 7d or 2w' });
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
