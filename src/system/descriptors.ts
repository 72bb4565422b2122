import { closeSync, openSync, readFileSync } from 'node:fs';
import { tryOr } from './errors.ts';

/** Descriptors reserved for journals, pipes of starting programs, and connections. */
const MAX_RESERVED = 64;

let lowestReserved: number | null = null;

/**
 * The lowest reserved descriptor. The system always hands out the lowest free one, so receiving this or a higher one
 * means that nearly all are in use. Node raises its own limit at startup.
 */
export function reservedDescriptors(): number {
  if (lowestReserved === null) {
    const limit = openFilesLimit();
    lowestReserved = limit - Math.min(MAX_RESERVED, Math.floor(limit / 3));
  }
  return lowestReserved;
}

/** Whether too few descriptors are left to start anything that opens files. */
export function areDescriptorsScarce(): boolean {
  return tryOr(true, () => {
    const fd = openSync('/dev/null', 'r');
    closeSync(fd);
    return fd >= reservedDescriptors();
  });
}

/** The number of files that this process may open; infinite if it is unlimited or unknown. */
export function openFilesLimit(): number {
  const limits = tryOr('', () => readFileSync('/proc/self/limits', 'latin1'));
  const [, limit] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}
