import { readFileSync } from 'node:fs';

/** The files reserved for journals, processes being started, and watched directories. */
const reserved = 1000;

/** Returns the number of connections that leaves room for other open files; unlimited if the system's limit is unknown. */
export function connectionsThatFit(): number {
  const limit = openFilesLimit();
  return limit === null ? Number.POSITIVE_INFINITY : Math.max(Math.floor(limit / 2), limit - reserved);
}

function openFilesLimit(): number | null {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return match === null ? null : Number(match[1]);
  } catch {
    return null;
  }
}
