import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

const blockBytes = 512;

/** How many bytes of disk a file, or a directory with all that is in it, takes up; links are not followed. 0 where nothing is. */
export function diskUsage(path: string): number {
  const stats = lookAt(path);
  if (stats === null) return 0;
  const within = stats.isDirectory() ? namesIn(path).reduce((sum, name) => sum + diskUsage(join(path, name)), 0) : 0;
  return stats.blocks * blockBytes + within;
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** What cannot be read counts for nothing. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
