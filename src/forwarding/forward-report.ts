import type { ForwardCounts } from './forward-queue.ts';

const everyMs = 500;

/** Tells how forwarding goes whenever that has changed, twice a second at most, and once more when it is closed. */
export function reportCounts(
  counts: () => ForwardCounts,
  tell: (counts: ForwardCounts, isFinal: boolean) => void,
  warn: (message: string) => void,
): { readonly close: () => Promise<void> } {
  let told = '';
  let hasFailed = false;
  const report = (isFinal: boolean) => {
    const now = counts();
    const text = JSON.stringify(now);
    if (text === told && !isFinal) return;
    try {
      tell(now, isFinal);
      told = text;
    } catch (error) {
      // It is tried again; to say so once is enough.
      if (!hasFailed) warn(`how log forwarding goes cannot be told: ${error instanceof Error ? error.message : error}`);
      hasFailed = true;
    }
  };
  const timer = setInterval(report, everyMs, false).unref();
  return {
    close: async () => {
      clearInterval(timer);
      report(true);
    },
  };
}
