import { createHash } from 'node:crypto';
import { uuidOf } from '../service.ts';

/**
 * Returns the id of the run of a workflow for one due time, or of the retry of a run with one number. The id is
 * deterministic, so that a second request, in any process, starts nothing. It is a UUID of version 8, which contains no
 * time: `catchup` or a queue may create the run much later, and the history sorts it by its time of creation.
 */
export function derivedRunId(origin: string, number: number): string {
  const bytes = createHash('sha256').update(`${origin}\0${number}`).digest().subarray(0, 16);
  return uuidOf(bytes, 8);
}
