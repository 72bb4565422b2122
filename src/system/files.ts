import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, type Stats, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorCode, messageOf, tryOr } from './errors.ts';

/** Uses an open file, then closes it. */
export function closing<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a regular file for reading, or with other `flags` of `open(2)`, and never blocks: opening a named pipe blocks
 * until its other end is opened, and reading a terminal or device until it has data. Throws the system's error, or one
 * that names the kind of file.
 */
export function openRegular(path: string, flags: number = constants.O_RDONLY): number {
  const fd = openSync(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY, 0o666);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`it is ${kindOf(stats)}, not a regular file`);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads a whole regular file. Throws like `openRegular`. */
export function readRegular(path: string): Buffer {
  return closing(openRegular(path), (fd) => readFileSync(fd));
}

/** Sockets are missing because they cannot be opened. */
function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isDirectory() ? 'a directory' : 'a device';
}

/** Removes a file if possible: one that remains is removed, or reported, with its directory at the end of the run. */
export function removeIfPossible(path: string): void {
  tryOr(null, () => unlinkSync(path));
}

/**
 * Removes a file if it exists. Throws system errors. Not by `rmSync`, which loads a module in Node 20, and whose errors
 * lack a code in some cases in Node 24.
 */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Removes a directory with its content. Returns why it still exists, or null once it is gone. */
export function removeDirectory(path: string): string | null {
  try {
    rmSync(path, { recursive: true, force: true });
    return null;
  } catch (error) {
    return `"${path}" could not be removed: ${messageOf(error)}`;
  }
}

/** A path of a workflow file as an absolute one: relative to a directory, or below the home directory (`~/x`). */
export function pathFrom(dir: string, path: string, home: string | undefined): string {
  return resolve(dir, expandHome(path, home));
}

/** A path with the home directory in the place of a leading `~`, as in a shell. */
export function expandHome(path: string, home: string | undefined): string {
  return home !== undefined && (path === '~' || path.startsWith('~/')) ? join(home, path.slice(1)) : path;
}
