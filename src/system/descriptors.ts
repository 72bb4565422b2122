import { closeSync, openSync, readFileSync } from 'node:fs';

/** Descriptors reserved for journals, pipes of starting programs, and connections. */
const maxReserved = 64;

let lowestReserved: number | null = null;

/**
 * The lowest reserved descriptor. The system always hands out the lowest free one, so receiving this or a higher one
 * means that nearly all are in use. Node raises its own limit at startup.
 */
export function reservedDescriptors(): number {
  lowestReserved ??= limitOfDescriptors();
  return lowestReserved;
}

/** Whether too few descriptors are left to start anything that opens files. */
export function areDescriptorsScarce(): boolean {
  try {
    const fd = openSync('/dev/null', 'r');
    closeSync(fd);
    return fd >= reservedDescriptors();
  } catch {
    return true;
  }
}

function limitOfDescriptors(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    if (limit === undefined) return Number.POSITIVE_INFINITY;
    return Number(limit) - Math.min(maxReserved, Math.floor(Number(limit) / 3));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
