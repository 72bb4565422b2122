/** How long the same text is not written again. */
const pauseMs = 60_000;
/** More texts than this are forgotten. */
const mostKnown = 1000;

/**
 * Returns a function that writes each text at most once a minute: a full disk makes a check fail every second, and its log
 * may be on that disk. `elapsed`: milliseconds since an arbitrary time.
 */
export function withoutRepeats(write: (text: string) => void, elapsed: () => number): (text: string) => void {
  const writtenAt = new Map<string, number>();
  return (text) => {
    const now = elapsed();
    const before = writtenAt.get(text);
    if (before !== undefined && now - before < pauseMs) return;
    if (writtenAt.size >= mostKnown) writtenAt.clear();
    writtenAt.set(text, now);
    write(text);
  };
}
