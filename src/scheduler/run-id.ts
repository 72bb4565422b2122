import { createHash } from 'node:crypto';

/**
 * The id of the run of a workflow for one moment: always the same one, so that whoever asks for it a second time, in
 * whichever process, starts nothing. It has the form of a UUID of version 7, so that it sorts by the moment.
 */
export function scheduledRunId(file: string, moment: number): string {
  const bytes = createHash('sha256').update(`${file}\0${moment}`).digest().subarray(0, 16);
  bytes.writeUIntBE(moment, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
