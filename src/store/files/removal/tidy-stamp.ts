import { closeSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { openPrivate } from '../disk/private-files.ts';

/**
 * Whether the runs in a directory have not been tidied for so long; then they count as tidied now. Two processes that ask at
 * once may both be told so. A directory that was never asked about has to wait once. Never throws: there is another time.
 */
export function claimTidying(runsDir: string, now: number, everyMs: number): boolean {
  const path = join(runsDir, '.tidied');
  try {
    const before = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (before === undefined) closeSync(openPrivate(path, 'a'));
    // A time in the future was set by a clock that was wrong.
    if (before === undefined || Math.abs(now - before) < everyMs) return false;
    utimesSync(path, now / 1000, now / 1000);
    return true;
  } catch {
    return false;
  }
}
