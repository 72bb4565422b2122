import { readFileSync } from 'node:fs';

/** What the process needs beside its connections: journals, processes that are being started, directories it watches. */
const reserved = 1000;

/** How many connections leave room for other open files; without a limit where the system does not tell. */
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
