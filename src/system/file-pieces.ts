import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, isMissing } from './errors.ts';

/**
 * A piece of a file that grows elsewhere and is copied here. `offset`: where its bytes begin; `total`: the size of the whole
 * file, once it is known.
 */
export type FilePiece = { readonly offset: number; readonly bytes: Uint8Array; readonly total: number | null };

const READ_WRITE = 0o600;
const DIRECTORY = 0o700;

/** The pieces of a file whose end is known, and that has a gap before it: `path` has that end meanwhile. */
function incompletePath(path: string): string {
  return `${path}.part`;
}

/** Pieces of one file are written one after the other. */
const writing = new Map<string, Promise<unknown>>();

/**
 * Writes what is new of a piece, and creates the file and its directories with the first one. Resolves to the size of the
 * copy: less than the end of the piece if it begins after that size, since a file here has no gaps. Rejects with system
 * errors.
 */
export async function writePiece(path: string, piece: FilePiece): Promise<number> {
  const before = writing.get(path) ?? Promise.resolve();
  const written = before.then(() => write(path, piece));
  const settled = written.then(
    () => {},
    () => {},
  );
  writing.set(path, settled);
  try {
    return await written;
  } finally {
    if (writing.get(path) === settled) writing.delete(path);
  }
}

async function write(path: string, { offset, bytes, total }: FilePiece): Promise<number> {
  const file = await openCopy(existsSync(incompletePath(path)) ? incompletePath(path) : path);
  let size: number;
  try {
    size = (await file.stat()).size;
    const end = offset + bytes.length;
    for (let at = size; offset <= size && at < end; size = at) {
      const { bytesWritten } = await file.write(bytes, at - offset, end - at, at);
      at += bytesWritten;
    }
  } finally {
    await file.close();
  }
  if (size === total) await complete(path, total);
  return size;
}

/** Replaces the end of a file by all of it. */
async function complete(path: string, total: number): Promise<void> {
  try {
    if ((await stat(incompletePath(path))).size === total) await rename(incompletePath(path), path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function openCopy(path: string): Promise<FileHandle> {
  // Not `a`: two processes may write the same piece.
  const flags = 'r+';
  try {
    return await open(path, flags);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY });
    await (await open(path, 'a', READ_WRITE)).close();
    return open(path, flags);
  }
}

/** The end of a file: its last bytes, and the size of all of it. */
export type FileEnd = { readonly size: number; readonly bytes: Uint8Array };

/**
 * Keeps the end of a file. `gap`: the file comes in pieces, too. Those that are there stay: the end completes them, or has
 * their place, after the text `gap`, until the missing ones have come. Throws system errors.
 */
export function keepEnd(path: string, end: FileEnd, gap: string | null): void {
  const { size, bytes } = end;
  if (bytes.length === size || gap === null) {
    if (sizeOf(path) !== size) replaceBy(path, bytes);
    return;
  }
  const parts = incompletePath(path);
  mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY });
  if (sizeOf(parts) === null) {
    const found = sizeOf(path) ?? 0;
    if (found >= size) return;
    if (found >= size - bytes.length) {
      append(path, end, found);
      return;
    }
    if (found > 0) renameSync(path, parts);
    else closeSync(openSync(parts, 'a', READ_WRITE));
  }
  const found = sizeOf(parts) ?? 0;
  if (found < size && found >= size - bytes.length) append(parts, end, found);
  const shown = Buffer.concat([Buffer.from(gap), bytes]);
  if (sizeOf(path) !== shown.length) replaceBy(path, shown);
  // A writer that came between wrote what was renamed, and may have completed it.
  if (sizeOf(parts) === size) renameSync(parts, path);
}

function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

/** Adds what is missing after the first `found` bytes. */
function append(path: string, { size, bytes }: FileEnd, found: number): void {
  writeTo(path, bytes.subarray(found - (size - bytes.length)), found);
}

/** The size is right first: another process that writes the same bytes does no harm. */
function replaceBy(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY });
  const fd = openSync(path, 'a', READ_WRITE);
  try {
    if (fstatSync(fd).size > bytes.length) ftruncateSync(fd, bytes.length);
  } finally {
    closeSync(fd);
  }
  writeTo(path, bytes, 0);
}

function writeTo(path: string, bytes: Uint8Array, from: number): void {
  const fd = openSync(path, 'r+');
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, from + done);
  } finally {
    closeSync(fd);
  }
}
