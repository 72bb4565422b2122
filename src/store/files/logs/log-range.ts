import { closeSync, constants, readSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { openRegular } from '../../../regular-file.ts';

const chunkBytes = 64 * 1024;
/** Maximum number of bytes searched for lines: the whole log of a program that prints no line ends must not be read. */
const mostTailBytes = 4 * 1024 * 1024;
const lineEnd = 0x0a;

/** The present size of a log in bytes; 0 if it does not exist. */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The bytes of a log from `from` up to, but not including, `to`; fewer if it ends earlier, none if it does not exist.
 * Other work can run between chunks, which are valid only until the next one is requested.
 */
export async function* readLogRange(
  path: string,
  from: number,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void> {
  const file = await openIfThere(path);
  if (file === null) return;
  try {
    // Bytes written while it is read are left to followers.
    const end = Math.min(to, (await file.stat()).size);
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(chunkBytes, end - from)));
    for (let offset = from; offset < end; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - offset), offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** The offset at which the last lines of a log start. `found`: their number; the last one may have no line end yet. */
export function findTail(path: string, lines: number): { readonly offset: number; readonly found: number } {
  const size = logSize(path);
  if (size === 0 || lines === 0) return { offset: size, found: 0 };
  const fd = openRegular(path);
  try {
    return findIn(fd, size, lines);
  } finally {
    closeSync(fd);
  }
}

function findIn(fd: number, size: number, lines: number): { readonly offset: number; readonly found: number } {
  const buffer = Buffer.allocUnsafe(Math.min(size, chunkBytes));
  const floor = Math.max(0, size - mostTailBytes);
  let found = 0;
  // The end of the last line ends no previous line.
  let end = size - 1;
  while (end > floor) {
    const start = Math.max(floor, end - buffer.length);
    const bytes = buffer.subarray(0, readSync(fd, buffer, 0, end - start, start));
    for (let at = bytes.lastIndexOf(lineEnd); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(lineEnd, at - 1)) {
      found += 1;
      if (found === lines) return { offset: start + at + 1, found };
    }
    end = start;
  }
  return { offset: floor, found: found + 1 };
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    // A step may have replaced its log with a pipe: it has no size, and must not block.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
