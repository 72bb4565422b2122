import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32, crc32OfText } from '#fast/crc32.ts';
import { replaceByDraft, replaceInBackground } from '#system/durable-file.ts';
import { errorCode, isMissing, messageOf, systemReason, tryOr, WfError } from '#system/errors.ts';
import { closing } from '#system/files.ts';

const READ_WRITE = 0o600;
const READ_WRITE_SEARCH = 0o700;

/**
 * Opens a file, created with mode 0600 if missing: owner bits that the umask removes are restored. The umask itself
 * belongs to the steps.
 */
export function openPrivate(path: string, flags: string | number): number {
  const fd = openSync(path, flags, READ_WRITE);
  if (!umaskTakesOwnerBits()) return fd;
  try {
    if ((fstatSync(fd).mode & READ_WRITE) !== READ_WRITE) fchmodSync(fd, READ_WRITE);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Creates a new file of mode 0600. */
export function writePrivate(path: string, content: string | Uint8Array): void {
  closing(openPrivate(path, 'wx'), (fd) => writeFileSync(fd, content));
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

/** Returns what `read` returns; null if the file or directory does not exist. */
export function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Reads a text; null if the file does not exist. */
export function readIfThere(path: string): string | null {
  return ifThere(() => readFileSync(path, 'utf8'));
}

/** The names in a directory; none if it does not exist. */
export function namesIn(directory: string): readonly string[] {
  return ifThere(() => readdirSync(directory)) ?? [];
}

/** The size of a file in bytes; 0 if it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
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
  if ((statSync(directory).mode & READ_WRITE_SEARCH) !== READ_WRITE_SEARCH) chmodSync(directory, READ_WRITE_SEARCH);
}

let takesOwnerBits: boolean | null = null;

/** Evaluated once: two steps per millisecond make it too expensive to check each file. */
function umaskTakesOwnerBits(): boolean {
  takesOwnerBits ??= (process.umask() & READ_WRITE_SEARCH) !== 0;
  return takesOwnerBits;
}

function makeOne(path: string): readonly string[] {
  try {
    mkdirSync(path, READ_WRITE_SEARCH);
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

/** A storage error in plain words: `cannot write "/runs/1/journal.jsonl": no space left on the device`. */
export function storageError(action: string, path: string, cause: unknown): WfError {
  const code = errorCode(cause);
  const reason = systemReason(code) ?? reasons.get(code) ?? messageOf(cause);
  return new WfError('storage', `cannot ${action} "${path}": ${reason}`, { cause });
}

/** Runs `work`; converts the error of a system call to a `WfError` `storage` about `path`. */
export function storing<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStorageError(action, path, error);
  }
}

/** Does the same for work that another thread may do. */
export async function storingLater<T>(action: string, path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(action, path, error);
  }
}

function asStorageError(action: string, path: string, error: unknown): unknown {
  return error instanceof WfError || errorCode(error) === '' ? error : storageError(action, path, error);
}

/** Returns what `read` returns; null if the file or directory at the path is gone. Throws a `WfError` `storage`. */
export function unlessRemoved<T>(path: string, read: () => T): T | null {
  return storing('read', path, () => ifThere(read));
}

/** Returns what `read` returns; null if the file, or a directory on the way to it, does not exist. Throws `storage`. */
export function unlessMissing<T>(path: string, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return null;
    throw storageError('read', path, error);
  }
}

const HEAD = '{"crc":"';
const MIDDLE = '","data":';
const dataStart = HEAD.length + 8 + MIDDLE.length;

/**
 * A JSON text with the checksum of its bytes, without line end: `{"crc":"1a2b3c4d","data":...}`. The result is JSON,
 * so that any tool can read it, and the checksum is at a fixed position, so that it is checked before parsing.
 */
export function seal(json: string): string {
  return `${HEAD}${inHex(crc32OfText(json))}${MIDDLE}${json}}`;
}

/** The sealed value; undefined if any bit of it has changed. */
export function unseal(bytes: Buffer): unknown {
  const end = bytes.length - 1;
  if (end <= dataStart || bytes[end] !== 0x7d) return undefined;
  const data = bytes.subarray(dataStart, end);
  if (bytes.toString('latin1', 0, dataStart) !== HEAD + inHex(crc32(data)) + MIDDLE) return undefined;
  return tryOr(undefined, () => JSON.parse(data.toString()) as unknown);
}

/** A value as a sealed line of a file. */
export function sealedLine(value: unknown): string {
  return `${seal(JSON.stringify(value))}\n`;
}

/** The value in a file of one sealed line; undefined if it is damaged. */
export function readSealed(path: string): unknown {
  return unseal(readFileSync(path).subarray(0, -1));
}

function inHex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

/**
 * Type numbers (statfs(2)) of file systems that only one kernel uses: ext2 to ext4, XFS, Btrfs, bcachefs, F2FS, ZFS,
 * JFS, ReiserFS, tmpfs, ramfs and overlays. All others may be shared by several machines (NFS, CIFS, 9p), or show
 * different inodes in two mounts (FUSE).
 */
const localTypes = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xca451a4e, 0xf2f52010, 0x2fc12fc1, 0x3153464a, 0x52654973, 0x01021994, 0x858458f6,
  0x794c7630,
]);

/** Whether the file system of a path certainly belongs to this machine alone. */
export function isOnLocalDisk(path: string): boolean {
  // Numbers whose highest bit is set are negative on some machines.
  return tryOr(false, () => localTypes.has(statfsSync(path).type >>> 0));
}

/** Creates a temporary directory of mode 0700 below `parent`. Throws a `WfError` `storage`. */
export function makeTemporaryDirectory(parent: string): string {
  const path = storing('create a directory in', parent, () => mkdtempSync(join(parent, 'wf-')));
  keepOwnerBits(path);
  return path;
}
