import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { flushDirectory, replaceByDraft } from '#system/durable-file.ts';
import { removeIfPossible } from '#system/files.ts';

/**
 * Replaces a file atomically. Keeps the mode and, if permitted, the owner. A draft left by a crash is not listed as a
 * workflow: its name begins with a dot.
 */
export function replaceFile(path: string, text: string): void {
  const draft = draftOf(path);
  const { mode, uid, gid } = statSync(path);
  replaceByDraft(path, draft, {
    open: () => openSync(draft, 'wx', 0o600),
    write: (fd) => {
      writeFileSync(fd, text);
      keepOwner(fd, uid, gid);
      fchmodSync(fd, mode & 0o777);
    },
  });
}

/** Creates a file with its whole text, or none; throws the system's `EEXIST` if it exists. */
export function createFile(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    writeFlushed(draft, text);
    renameFile(draft, path);
  } finally {
    removeIfPossible(draft);
  }
}

/** Renames a file within its directory; throws the system's `EEXIST` if the name is taken, unlike a plain rename. */
export function renameFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) throw error;
    // Some file systems have no hard links, and some files may not be linked.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
  unlinkSync(from);
  flushDirectory(dirname(to));
}

/** Whether an error is a system error with the code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
}

function writeFlushed(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function keepOwner(fd: number, uid: number, gid: number): void {
  const own = fstatSync(fd);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    if (!isCode(error, 'EPERM')) throw error;
  }
}
