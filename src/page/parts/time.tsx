import { signal } from '@preact/signals';
import { formatDuration, formatElapsed } from '#render/text.ts';
import { isUtc } from '../data/page-settings.ts';

/** A timestamp in the selected time zone: `2026-03-01 10:31:02`, followed by `UTC` if UTC is selected. */
export function momentText(at: Date | string, utc = isUtc.value): string {
  const date = new Date(at);
  const local = new Date(date.getTime() - (utc ? 0 : date.getTimezoneOffset() * 60_000));
  return local.toISOString().slice(0, 19).replace('T', ' ') + (utc ? ' UTC' : '');
}

/** The time since or until a timestamp: `5m ago`, `in 2h10m`. */
export function relativeText(ms: number): string {
  if (Math.abs(ms) < 1000) return 'now';
  const text = formatElapsed(Math.abs(ms));
  // Seconds are omitted after an hour, minutes after a day.
  const [, coarse = text] = /^(\d+d\d\dh|\d+h\d\dm|\d+m)/.exec(text) ?? [];
  return ms < 0 ? `in ${coarse}` : `${coarse} ago`;
}

/** A relative time, with the exact one in its title. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentText(at)}>
      {relativeText(now.value - Date.parse(at))}
    </time>
  );
}

/** A full timestamp. */
export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{momentText(at)}</time>;
}

type TookProps = { ms: number | null; since: string | null; usual?: number | null };

/** A duration, of something that may still be running, and the usual one; null: unknown. */
export function Took({ ms, since, usual = null }: TookProps) {
  const elapsed = since === null ? '' : formatElapsed(now.value - Date.parse(since));
  return (
    <span class="took">
      {ms === null ? elapsed : formatDuration(ms)}
      {usual !== null && <span title="Median of the last successes">{` (~${formatDuration(usual)})`}</span>}
    </span>
  );
}

/** The current time, in milliseconds since 1970-01-01 UTC, updated once a second while the page is visible. */
export const now = signal(Date.now());

/** Starts the clock; it pauses while the page is hidden. */
export function startClock(): void {
  const tick = () => {
    if (!document.hidden) now.value = Date.now();
  };
  setInterval(tick, 1000);
  document.addEventListener('visibilitychange', tick);
}
