import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './private-files.ts';

/** The space of the file system of a directory, in bytes; `freeBytes`: what this process may still write. */
export type DiskSpace = { readonly path: string; readonly totalBytes: number; readonly freeBytes: number };

/** Returns the space where a directory is, or will be created; null if the file system reports none. */
export async function readDiskSpace(path: string): Promise<DiskSpace | null> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(path);
    if (blocks === 0) return null;
    // Some file systems reserve blocks for root.
    const free = process.getuid?.() === 0 ? bfree : bavail;
    return { path, totalBytes: blocks * bsize, freeBytes: free * bsize };
  } catch (error) {
    const parent = dirname(path);
    return errorCode(error) === 'ENOENT' && parent !== path ? readDiskSpace(parent) : null;
  }
}
