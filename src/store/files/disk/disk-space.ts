import { writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { areDescriptorsScarce } from '#system/descriptors.ts';
import { errorCode, type SystemProblem, systemProblem, systemReason } from '#system/errors.ts';
import { closing, removeIfPossible } from '#system/files.ts';
import type { DiskSpace } from '../../store.ts';
import { makePrivateDirectory, openPrivate } from './private-files.ts';

/** Returns the space where a directory is, or will be created; null if the file system reports none. */
export async function readDiskSpace(path: string): Promise<DiskSpace | null> {
  const { statfs } = await import('node:fs/promises');
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

const trial = Buffer.alloc(16 * 1024);
/** How long a result is kept, so that frequent requests do not load the disk. */
const KEPT_MS = 1000;

/** Writes and removes a file to see whether a start would fail; null if not. The message contains no path. */
export function createTrialWrite(directory: string, now: () => number): () => SystemProblem | null {
  let last: { readonly at: number; readonly problem: SystemProblem | null } | null = null;
  return () => {
    const at = now();
    if (last === null || at < last.at || at - last.at >= KEPT_MS) last = { at, problem: tryOut(directory) };
    return last.problem;
  };
}

function tryOut(directory: string): SystemProblem | null {
  if (areDescriptorsScarce()) return { message: 'too many open files', help: null, status: 503 };
  const path = join(directory, `.trial-${process.pid}`);
  try {
    makePrivateDirectory(directory);
    closing(openPrivate(path, 'w'), (fd) => {
      for (let written = 0; written < trial.length; ) written += writeSync(fd, trial, written);
    });
    return null;
  } catch (error) {
    const message = systemReason(errorCode(error)) ?? 'the home of wf cannot be written';
    return { message, help: null, status: systemProblem(error)?.status ?? 503 };
  } finally {
    removeIfPossible(path);
  }
}
