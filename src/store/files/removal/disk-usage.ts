import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

const blockBytes = 512;

/**
 * The disk usage of a file, or of a directory with all its content, in bytes; links are not followed. 0 if it does not
 * exist.
 */
export function diskUsage(path: string): number {
  const stats = lookAt(path);
  if (stats === null) return 0;
  const within = stats.isDirectory() ? namesIn(path).reduce((sum, name) => sum + diskUsage(join(path, name)), 0) : 0;
  return diskSpace(stats) + within;
}

/** The disk space of one file, or of a directory without its content, in bytes. */
export function diskSpace({ blocks }: Pick<Stats, 'blocks'>): number {
  return blocks * blockBytes;
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** Unreadable directories count as empty. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
