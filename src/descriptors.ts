import { closeSync, openSync, readFileSync } from 'node:fs';

/** Descriptors that are left for journals, pipes of programs that are just being started, and connections. */
const mostReserved = 64;

let lowestReserved: number | null = null;

/**
 * The descriptor from which on all are reserved: the system gives out the lowest that is free, so that one at or above it means
 * that nearly all are in use. Node raises the limit to what it may be before anything else.
 */
export function reservedDescriptors(): number {
  lowestReserved ??= limitOfDescriptors();
  return lowestReserved;
}

/** Whether so many files are open in this process that nothing should be begun which opens more. */
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
    return Number(limit) - Math.min(mostReserved, Math.floor(Number(limit) / 3));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
