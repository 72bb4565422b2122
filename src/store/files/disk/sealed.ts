import { crc32, crc32OfText } from '#start-up/crc32.ts';

const head = '{"crc":"';
const middle = '","data":';
const dataStart = head.length + 8 + middle.length;

/**
 * A JSON text with the checksum of its bytes, without line end: `{"crc":"1a2b3c4d","data":...}`. The result is JSON,
 * so that any tool can read it, and the checksum is at a fixed position, so that it is checked before parsing.
 */
export function seal(json: string): string {
  return `${head}${inHex(crc32OfText(json))}${middle}${json}}`;
}

/** The sealed value; undefined if any bit of it has changed. */
export function unseal(bytes: Buffer): unknown {
  const end = bytes.length - 1;
  if (end <= dataStart || bytes[end] !== 0x7d) return undefined;
  const data = bytes.subarray(dataStart, end);
  if (bytes.toString('latin1', 0, dataStart) !== head + inHex(crc32(data)) + middle) return undefined;
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}

function inHex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}
