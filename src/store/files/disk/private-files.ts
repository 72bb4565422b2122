import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { replaceByDraft, replaceInBackground } from '#system/durable-file.ts';
import { messageOf, systemReason, WfError } from '#system/errors.ts';

const readWrite = 0o600;
const readWriteSearch = 0o700;

/**
 * Opens a file, which is created with mode 0600 if missing. Group and others never get access, so the umask can only
 * remove too much: owner bits that it removes are restored. The umask itself belongs to the steps and is not changed.
 */
export function openPrivate(path: string, flags: string | number): number {
  const fd = openSync(path, flags, readWrite);
  if (!umaskTakesOwnerBits()) return fd;
  try {
    if ((fstatSync(fd).mode & readWrite) !== readWrite) fchmodSync(fd, readWrite);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Creates a new file of mode 0600. */
export function writePrivate(path: string, content: string | Uint8Array): void {
  const fd = openPrivate(path, 'wx');
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file atomically by one of mode 0600, on disk when this returns. `draft`: a path in the same directory. */
export function replacePrivate(path: string, text: string, draft: string): void {
  replaceByDraft(path, draft, draftOf(text));
}

/** Like `replacePrivate`, but waits for the disk in another thread. */
export function replacePrivateInBackground(path: string, text: string, draft: string): Promise<void> {
  return replaceInBackground(path, draft, draftOf(text));
}

function draftOf(text: string) {
  return { open: (draft: string) => openPrivate(draft, 'w'), write: (fd: number) => writeFileSync(fd, text) };
}

/** Reads a text; null if the file does not exist. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Creates a directory of mode 0700 and its missing parents; returns those created, outermost first. */
export function makePrivateDirectory(path: string): readonly string[] {
  try {
    return makeOne(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return [...makePrivateDirectory(dirname(path)), ...makeOne(path)];
  }
}

/** Restores the owner bits that the umask removed from a new directory. */
export function keepOwnerBits(directory: string): void {
  if ((statSync(directory).mode & readWriteSearch) !== readWriteSearch) chmodSync(directory, readWriteSearch);
}

let takesOwnerBits: boolean | null = null;

/** Evaluated once: two steps per millisecond make it too expensive to check each file. */
function umaskTakesOwnerBits(): boolean {
  takesOwnerBits ??= (process.umask() & readWriteSearch) !== 0;
  return takesOwnerBits;
}

function makeOne(path: string): readonly string[] {
  try {
    mkdirSync(path, readWriteSearch);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return [];
    throw error;
  }
  keepOwnerBits(path);
  return [path];
}

/** Errors of a path, rather than of the machine. */
const reasons = new Map([
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'a part of the path is not a directory'],
  ['EISDIR', 'it is a directory'],
  ['ENAMETOOLONG', 'the path is too long'],
  ['ELOOP', 'too many symbolic links'],
]);

/** The code of a failed system call (`ENOSPC`); null for any other error. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** A storage error in plain words: `cannot write "/runs/1/journal.jsonl": no space left on the device`. */
export function storageError(action: string, path: string, cause: unknown): WfError {
  const code = errorCode(cause) ?? '';
  const reason = systemReason(code) ?? reasons.get(code) ?? messageOf(cause);
  return new WfError('storage', `cannot ${action} "${path}": ${reason}`, { cause });
}

/** Runs `work`; converts the error of a system call to a `WfError` `storage` about `path`. */
export function storing<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof WfError || errorCode(error) === null) throw error;
    throw storageError(action, path, error);
  }
}
