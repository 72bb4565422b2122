import type { RunStatus } from '#core/run/run.ts';
import { type SelectTools, statusesSince } from './select-runs.ts';

/** The number of runs that were created in one hour, by status. `from`: milliseconds since 1970-01-01 UTC. */
export type RunsOfHour = { readonly from: number; readonly statuses: Readonly<Partial<Record<RunStatus, number>>> };

export const hourMs = 3_600_000;

/** Counts the runs of each of the last hours of UTC, the oldest first. The last one is the hour of `now`. */
export async function countByHour(
  { now, hours }: { readonly now: number; readonly hours: number },
  tools: SelectTools,
): Promise<readonly RunsOfHour[]> {
  const last = Math.floor(now / hourMs);
  const counts = Array.from({ length: hours }, (_, index) => ({
    from: (last - hours + 1 + index) * hourMs,
    statuses: {} as Partial<Record<RunStatus, number>>,
  }));
  const [first] = counts;
  if (first === undefined) return [];
  for await (const { at, status } of statusesSince(first.from, tools)) {
    const hour = counts[Math.floor((at - first.from) / hourMs)];
    if (hour !== undefined) hour.statuses[status] = (hour.statuses[status] ?? 0) + 1;
  }
  return counts;
}
