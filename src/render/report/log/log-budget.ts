/** One log that a report could show. */
export type LogSize = { readonly bytes: number; readonly isUrgent: boolean };

/** Of one log never more than this, a quarter from its start and the rest from its end. */
const mostOfOne = 256 * 1024;
/** Of all logs together. */
const mostOfAll = 12 * 1024 * 1024;

/**
 * How many bytes of each log to show, in the order given. Small logs are shown whole; where all together are too much, the
 * long ones are cut to the same length, and those that are not urgent first.
 */
export function shareLogBudget(logs: readonly LogSize[]): readonly number[] {
  const wanted = logs.map(({ bytes }) => Math.min(bytes, mostOfOne));
  const urgentCap = fairCap(
    wanted.filter((_, index) => logs[index]?.isUrgent),
    mostOfAll,
  );
  const used = wanted.reduce((sum, bytes, index) => sum + (logs[index]?.isUrgent ? Math.min(bytes, urgentCap) : 0), 0);
  const otherCap = fairCap(
    wanted.filter((_, index) => !logs[index]?.isUrgent),
    mostOfAll - used,
  );
  return wanted.map((bytes, index) => Math.min(bytes, logs[index]?.isUrgent ? urgentCap : otherCap));
}

/** The length to which the longest have to be cut for all to fit. */
function fairCap(wanted: readonly number[], room: number): number {
  let left = room;
  const ascending = wanted.toSorted((a, b) => a - b);
  for (const [index, bytes] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (bytes > share) return share;
    left -= bytes;
  }
  return mostOfOne;
}
