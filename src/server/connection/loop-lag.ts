import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The delay of the event loop, in milliseconds, over the last seconds. */
export type LoopLag = { readonly mean: number; readonly p99: number; readonly max: number };

const resolutionMs = 50;
const windowMs = 10_000;

/** Watches the event loop until it is closed. */
export function watchLoopLag(now: () => number): { readonly read: () => LoopLag; readonly close: () => void } {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let since = now();
  return {
    read: () => {
      const lag = {
        mean: beyondResolution(delays.mean),
        p99: beyondResolution(delays.percentile(99)),
        max: beyondResolution(delays.max),
      };
      if (now() - since >= windowMs) {
        delays.reset();
        since = now();
      }
      return lag;
    },
    close: () => void delays.disable(),
  };
}

/** Converts a measured interval to a delay; NaN before the first measurement. */
function beyondResolution(nanoseconds: number): number {
  const ms = nanoseconds / 1e6 - resolutionMs;
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms * 10) / 10 : 0;
}
