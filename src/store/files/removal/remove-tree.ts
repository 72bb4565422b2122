import { close, constants, lstatSync, openSync, readdirSync, rmdirSync, type Stats, unlink, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../disk/private-files.ts';
import { diskSpace } from './disk-usage.ts';

const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The maximum number of entries of a directory that are removed at once. */
const mostAtOnce = 64;
/** The maximum number of attempts to empty a directory to which others add files. */
const attempts = 20;

/**
 * Removes a file, or a directory with its content; resolves to the disk space that it took, in bytes. Links are not
 * followed. Another process may be removing it, too.
 *
 * A file system may take long to free space, up to one request to the disk for each file: so only the calls that free
 * space are asynchronous, and several wait at once. All others take less time than passing them to another thread.
 */
export async function removeTree(path: string): Promise<number> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  try {
    const within = stats.isDirectory() ? await removeDirectory(path) : await removeFile(path, stats);
    return within + diskSpace(stats);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** Resolves to 0. */
async function removeFile(path: string, { blocks }: Stats): Promise<number> {
  if (blocks === 0) unlinkSync(path);
  else await settled((done) => unlink(path, done));
  return 0;
}

/** An open directory is freed when it is closed, instead of while its parent is locked for everyone. */
async function removeDirectory(directory: string): Promise<number> {
  const fd = openSync(directory, asDirectory);
  try {
    return await emptyAndRemove(directory);
  } finally {
    await settled((done) => close(fd, done));
  }
}

/**
 * A process that opened a file in the directory before it was moved may add files: so an emptied directory may not
 * stay empty.
 */
async function emptyAndRemove(directory: string): Promise<number> {
  let bytes = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      bytes += await removeContent(directory);
      rmdirSync(directory);
      return bytes;
    } catch (error) {
      if (errorCode(error) !== 'ENOTEMPTY' || attempt === attempts) throw error;
    }
  }
}

/** Throws the first error after all removals have ended. */
async function removeContent(directory: string): Promise<number> {
  const names = readdirSync(directory);
  let bytes = 0;
  for (let at = 0; at < names.length; at += mostAtOnce) {
    const removals = names.slice(at, at + mostAtOnce).map((name) => removeTree(join(directory, name)));
    for (const result of await Promise.allSettled(removals)) {
      if (result.status === 'rejected') throw result.reason;
      bytes += result.value;
    }
  }
  return bytes;
}

function settled(call: (done: (error: Error | null | undefined) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
