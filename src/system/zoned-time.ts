/** Times in a time zone. A zone is a name of the IANA database; null: that of the machine. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns by how many milliseconds the clocks of a zone are ahead of UTC at a time. */
function offsetMs(at: number, zone: string | null): number {
  // Without a zone no Intl is loaded, which takes longer than the start of a program.
  if (zone === null) return -new Date(at).getTimezoneOffset() * 60_000;
  let format = formats.get(zone);
  if (format === undefined) {
    const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...digits });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
  return local - Math.floor(at / 60_000) * 60_000;
}

/** Writes a time by RFC 3339 as the clocks of the zone show it, in seconds: `2026-11-26T02:00:00+01:00`. */
export function zonedText(at: number, zone: string | null): string {
  const offset = offsetMs(at, zone);
  const text = new Date(at + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const minutes = Math.abs(offset) / 60_000;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${text}${offset < 0 ? '-' : '+'}${hours}:${rest}`;
}

/** The forms of a time that `parseTime` reads, for messages. */
export const TIME_FORMS =
  'write a time as "2026-11-26", "2026-11-26 02:00" or "2026-11-26T02:00:00+01:00"; without an offset it is in the time zone of the workflow';

const TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads a day, or a day and a time with or without an offset from UTC; null for any other text. Without an offset it is in the
 * zone: of a time that occurs twice the first, and a time that a change of the clock skips is as much later.
 */
export function parseTime(text: string, zone: string | null): number | null {
  const [, day, time = '00:00', offset] = TIME.exec(text.trim()) ?? [];
  if (day === undefined) return null;
  const local = Date.parse(`${day}T${time}Z`);
  // `Date.parse` reads February 30 as March 2.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(day)) return null;
  if (offset === undefined) return localTime(local, zone);
  const at = Date.parse(`${day}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(at) ? null : at;
}

/** Returns the first time after `at` at which the clocks of a zone show a time of day such as `06:30`. */
export function nextTimeOfDay(at: number, time: string, zone: string | null): number {
  const today = Date.parse(zonedText(at, zone).slice(0, 10));
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const days = [0, 1].map((day) => localTime(today + day * DAY_MS + (hours * 60 + minutes) * 60_000, zone));
  return days.find((one) => one > at) ?? at + DAY_MS;
}

/** Returns the time at which the clocks of a zone show the fields that `local` has in UTC. */
function localTime(local: number, zone: string | null): number {
  const before = local - offsetMs(local - DAY_MS, zone);
  const after = local - offsetMs(local + DAY_MS, zone);
  const shown = [before, after].filter((at) => at + offsetMs(at, zone) === local);
  return shown.length === 0 ? before : Math.min(...shown);
}

const DAY_MS = 86_400_000;
