import { closeSync, fsync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './errors.ts';
import { removeIfPossible } from './files.ts';

/** `open` opens the draft for writing, a path in the same directory. */
type DraftTools = { readonly open: (draft: string) => number; readonly write: (fd: number) => void };

/** Replaces a file atomically: readers find the old content or the new one, also after a crash of the machine. */
export function replaceByDraft(path: string, draft: string, { open, write }: DraftTools): void {
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

/** Like `replaceByDraft`, but waits for the disk in another thread. */
export async function replaceInBackground(path: string, draft: string, { open, write }: DraftTools): Promise<void> {
  try {
    await flushed(() => open(draft), write);
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  try {
    await flushed(() => openSync(dirname(path), 'r'));
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

async function flushed(open: () => number, write: (fd: number) => void = () => {}): Promise<void> {
  const fd = open();
  try {
    write(fd);
    await new Promise<void>((resolve, reject) => {
      fsync(fd, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    closeSync(fd);
  }
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
  return ['EINVAL', 'ENOTSUP'].includes(errorCode(error));
}
