import { createHash } from 'node:crypto';

/**
 * Returns the id of the run of a workflow for one due time, or of the retry of a run with one number. The id is
 * deterministic, so that a second request, in any process, starts nothing. It is a UUID of version 8, which contains no
 * time: `catchup` or a queue may create the run much later, and the history sorts it by its time of creation.
 */
export function derivedRunId(origin: string, number: number): string {
  const bytes = createHash('sha256').update(`${origin}\0${number}`).digest().subarray(0, 16);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
