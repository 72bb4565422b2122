const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Shortens the id of a run for display and typing: the first 13 characters of a UUIDv7 are its time in milliseconds (the first
 * 8 are equal for all runs within 65 seconds). Ids given by the caller are not shortened.
 */
export function shortId(runId: string): string {
  return uuid.test(runId) ? runId.slice(0, 13) : runId;
}
