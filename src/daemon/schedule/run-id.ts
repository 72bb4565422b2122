import { createHash } from 'node:crypto';

/**
 * The id of the run of a workflow for one moment: always the same one, so that whoever asks for it a second time, in
 * whichever process, starts nothing. A UUID of version 8, which tells no time: the run of a moment may be made long
 * after it, by `catchup` or out of a queue, and is placed in the history by when it was made.
 */
export function scheduledRunId(file: string, moment: number): string {
  const bytes = createHash('sha256').update(`${file}\0${moment}`).digest().subarray(0, 16);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
