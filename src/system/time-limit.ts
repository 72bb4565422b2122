/**
 * Calls `work` with a signal that is aborted after `ms` milliseconds, or when `signal` is; resolves or rejects as `work`
 * does. `AbortSignal.any([signal, AbortSignal.timeout(ms)])` is not the same: Node 20 may collect the second signal as
 * garbage, and the limit with it.
 */
export async function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), ms);
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for `ms` milliseconds, until the signal is aborted, or until a call of the function that `started` gets. */
export function pause(ms: number, signal?: AbortSignal, started: (end: () => void) => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    started(end);
  });
}
