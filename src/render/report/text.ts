import { dateAndTime } from '../text/duration.ts';

/** The local date and time of the report with the offset from UTC, since a report may be read in another time zone. */
export function zonedTime(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const zone = minutes === 0 ? 'UTC' : `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${dateAndTime(at)} ${zone}`;
}
