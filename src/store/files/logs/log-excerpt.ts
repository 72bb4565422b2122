import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../../regular-file.ts';
import type { LogExcerpt } from '../../store.ts';

/** Number of bytes to read from the start and from the end of a log. */
export type ExcerptSize = { readonly head: number; readonly tail: number };

const nothing: LogExcerpt = { size: 0, head: new Uint8Array(0), tail: new Uint8Array(0) };

/** Reads both ends of a log of any size; nothing of a missing or unreadable file. */
export function readLogExcerpt(path: string, { head, tail }: ExcerptSize): LogExcerpt {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    const { size } = fstatSync(fd);
    if (size <= head + tail) return { ...nothing, size, head: readAt(fd, 0, size) };
    return { size, head: readAt(fd, 0, head), tail: readAt(fd, size - tail, tail) };
  } catch {
    return nothing;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

function readAt(fd: number, position: number, length: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}
