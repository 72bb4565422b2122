import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeIfPossible } from './remove-file.ts';

/**
 * Replaces a file atomically: readers find the old content or the new one, also after a crash of the machine. `open`
 * opens the draft, a path in the same directory, for writing.
 */
export function replaceByDraft(
  path: string,
  draft: string,
  { open, write }: { readonly open: (draft: string) => number; readonly write: (fd: number) => void },
): void {
  try {
    const fd = open(draft);
    try {
      write(fd);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  flushDirectory(dirname(path));
}

/** A new name is on disk once its directory was flushed. */
export function flushDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network and user-space file systems keep directories durable by themselves and refuse the call.
    if (!isRefusal(error)) throw error;
  } finally {
    closeSync(fd);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP');
}
