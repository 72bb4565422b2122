import { closeSync, fsync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from './errors.ts';
import { closing, removeIfPossible } from './files.ts';

/** `open` opens the draft for writing, a path in the same directory. */
type DraftTools = { readonly open: (draft: string) => number; readonly write: (fd: number) => void };

/** Replaces a file atomically: readers find the old content or the new one, also after a crash of the machine. */
export function replaceByDraft(path: string, draft: string, { open, write }: DraftTools): void {
  try {
    closing(open(draft), (fd) => {
      write(fd);
      fsyncSync(fd);
    });
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  flushDirectory(dirname(path));
}

/** Like `replaceByDraft`, but waits for the disk in another thread. */
export async function replaceInBackground(path: string, draft: string, { open, write }: DraftTools): Promise<void> {
  try {
    await flushed(open(draft), write);
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  try {
    await flushed(openSync(dirname(path), 'r'));
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

async function flushed(fd: number, write: (fd: number) => void = () => {}): Promise<void> {
  try {
    write(fd);
    await promisify(fsync)(fd);
  } finally {
    closeSync(fd);
  }
}

/** A new name is on disk once its directory was flushed. */
export function flushDirectory(directory: string): void {
  try {
    closing(openSync(directory, 'r'), fsyncSync);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** Some network and user-space file systems keep directories durable by themselves and refuse to flush them. */
function isRefusal(error: unknown): boolean {
  return ['EINVAL', 'ENOTSUP'].includes(errorCode(error));
}
