import { uses } from './accelerators.ts';

let table: Int32Array | null = null;

/** From this number of checksums on, or this length of text, loading a module for them pays. */
const FEW_CHECKSUMS = 200;
const SHORT_TEXT = 32 * 1024;
let checksums = 0;
let fromZlib: ((text: string) => number) | null = null;

/**
 * The CRC-32 of the bytes of a text. `node:zlib` needs a tenth of the time, but loading that module takes two
 * milliseconds: too long for short runs.
 */
export function crc32OfText(text: string): number {
  if (fromZlib !== null) return fromZlib(text);
  checksums += 1;
  if (checksums === FEW_CHECKSUMS || text.length > SHORT_TEXT || !uses('start-up'))
    fromZlib = process.getBuiltinModule('node:zlib').crc32;
  if (fromZlib !== null) return fromZlib(text);
  return crc32(Buffer.from(text));
}

/** The CRC-32 of zlib, gzip and PNG (ISO 3309), as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  table ??= makeTable();
  let crc = -1;
  for (let index = 0; index < bytes.length; index++) {
    crc = ((table[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8)) | 0;
  }
  return ~crc >>> 0;
}

/**
 * Entry 2a of a CRC table follows from entry a by one shift, and any other from two entries by exclusive or: 255 short
 * steps.
 */
function makeTable(): Int32Array {
  const made = new Int32Array(256);
  let value = 1;
  for (let bit = 128; bit > 0; bit >>= 1) {
    value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    for (let base = 0; base < 256; base += 2 * bit) made[base + bit] = (made[base] ?? 0) ^ value;
  }
  return made;
}
