/** Formats a duration: `0.3s`, `12s`, `4m05s`, `2h10m`, `3d04h`. A negative one counts as 0. */
export function formatDuration(ms: number): string {
  const tenths = Math.round(Math.max(0, ms) / 100);
  if (tenths < 100) return `${Math.floor(tenths / 10)}.${tenths % 10}s`;
  return formatSeconds(Math.round(ms / 1000));
}

/** Formats a duration that is still growing, in whole seconds; else like `formatDuration`. */
export function formatElapsed(ms: number): string {
  return formatSeconds(Math.floor(Math.max(0, ms) / 1000));
}

/** Formats a duration from a file, usually whole seconds: `5s`, `0.5s`, `10m00s`. */
export function formatInterval(ms: number): string {
  return ms % 1000 === 0 ? formatElapsed(ms) : formatDuration(ms);
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${twoDigits(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h${twoDigits(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d${twoDigits(hours % 24)}h`;
}

/** Formats the local time of day, `10:31:02`. */
export function timeOfDay(at: number): string {
  const date = new Date(at);
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`;
}

/** Formats the local date and time, `2026-03-01 10:31:02`. */
export function dateAndTime(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())} ${timeOfDay(at)}`;
}

/** Formats a time given in ISO 8601 UTC, `2026-03-01 12:00:00 UTC`. */
export function utcTime(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Returns a count with its noun: `1 step`, `2 steps`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** A number of bytes for display: `812 bytes`, `64 KiB`, `4.8 GiB`. */
export function byteText(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  if (bytes < 1024) return counted(bytes, 'byte');
  let value = bytes;
  let unit = '';
  while (value >= 1024 && units.length > 0) {
    value /= 1024;
    unit = units.shift() ?? '';
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Shortens the id of a run for display and typing: the first 13 characters of a UUIDv7 are its time in milliseconds (the first
 * 8 are equal for all runs within 65 seconds). Ids given by the caller are not shortened.
 */
export function shortId(runId: string): string {
  return UUID.test(runId) ? runId.slice(0, 13) : runId;
}
