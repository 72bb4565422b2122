import { dateAndTime } from '../text/duration.ts';

/** A number of bytes for a person: `812 bytes`, `64 KiB`, `4.8 GiB`. */
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

/** The day and time where the report was made, with how far that is from UTC: a report is read elsewhere too. */
export function zonedTime(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const zone = minutes === 0 ? 'UTC' : `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${dateAndTime(at)} ${zone}`;
}
