const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A run's id as it is shown and can be typed: the first 13 characters of a UUIDv7, which are its time to the
 * millisecond (the first 8 alone are shared by all runs within 65 seconds). Ids given by the caller stay whole.
 */
export function shortId(runId: string): string {
  return uuid.test(runId) ? runId.slice(0, 13) : runId;
}
