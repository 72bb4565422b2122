import { signal } from '@preact/signals';

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
