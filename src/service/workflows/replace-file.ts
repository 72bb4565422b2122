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
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeIfPossible } from '../../remove-file.ts';

/**
 * Puts a text in the place of a file, whole or not at all, also if the machine goes down: whoever reads it finds the old text
 * or the new one. Mode and, where that is allowed, owner stay. A draft that a crash leaves behind is no workflow: its name
 * begins with a dot.
 */
export function replaceFile(path: string, text: string): void {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
  const { mode, uid, gid } = statSync(path);
  try {
    const fd = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      keepOwner(fd, uid, gid);
      fchmodSync(fd, mode & 0o777);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Makes a file that was not there; throws the system's `EEXIST` where one is. */
export function createFile(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncDirectory(dirname(path));
}

/** Gives a file another name in its directory; throws the system's `EEXIST` where that is taken, unlike a plain rename. */
export function renameFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (isCode(error, 'EEXIST') || isCode(error, 'ENOENT')) throw error;
    // Not every file system has hard links, and not every file may get one.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
  unlinkSync(from);
  syncDirectory(dirname(to));
}

/** Whether an error is the system's, of that code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
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

function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems keep directories safe by themselves and refuse to be asked.
    if (!isCode(error, 'EINVAL') && !isCode(error, 'ENOTSUP')) throw error;
  } finally {
    closeSync(fd);
  }
}
