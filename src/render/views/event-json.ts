import type { StoredEvent } from '#core/run/run.ts';

/**
 * Returns an event as JSON data with `type`, `runId` and `at` first. Times are ISO 8601 UTC. `docs/reference/events.md` documents
 * the events.
 */
export function eventJson(runId: string, { type, at, ...rest }: StoredEvent): object {
  const until = 'until' in rest && rest.until !== null ? { until: isoTime(rest.until) } : {};
  return { type, runId, at: isoTime(at), ...rest, ...until };
}

/** Formats milliseconds since 1970-01-01 UTC as ISO 8601. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
