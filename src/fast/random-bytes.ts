import { closeSync, openSync, readSync } from 'node:fs';
import { uses } from './accelerators.ts';

/**
 * Reads random bytes from the system's generator, as `node:crypto` does, which takes three milliseconds to load; it serves
 * systems without the device.
 */
export function randomBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count);
  return uses('start-up') && fillFromDevice(bytes) ? bytes : process.getBuiltinModule('node:crypto').randomBytes(count);
}

function fillFromDevice(bytes: Buffer): boolean {
  let fd: number | null = null;
  try {
    fd = openSync('/dev/urandom', 'r');
    return readSync(fd, bytes) === bytes.length;
  } catch {
    return false;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
