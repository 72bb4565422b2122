import { dateAndTime } from '../text/duration.ts';

/** A number of bytes for display: `812 bytes`, `64 KiB`, `4.8 GiB`. */
export function byteText(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? '' : 's'}`;
  let value = bytes;
  let unit = '';
  while (value >= 1024 && units.length > 0) {
    value /= 1024;
    unit = units.shift() ?? '';
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** The local date and time of the report with the offset from UTC, since a report may be read in another time zone. */
export function zonedTime(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const zone = minutes === 0 ? 'UTC' : `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${dateAndTime(at)} ${zone}`;
}
