import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/**
 * Opens a regular file for reading, or with other `flags` of `open(2)`, and never blocks: opening a named pipe blocks
 * until its other end is opened, and reading a terminal or device until it has data. Throws the system's error, or one
 * that names the kind of file.
 */
export function openRegular(path: string, flags: number = constants.O_RDONLY): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY, 0o666);
  try {
    checkRegular(fstatSync(fd));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads a whole regular file. Throws like `openRegular`. */
export function readRegular(path: string): Buffer {
  const fd = openRegular(path);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function checkRegular(stats: Stats): void {
  if (stats.isFile()) return;
  throw new Error(`it is ${kindOf(stats)}, not a regular file`);
}

/** Sockets are missing because they cannot be opened. */
function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isDirectory() ? 'a directory' : 'a device';
}
