import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode, WfError } from '../errors.ts';
import { removeFile } from '../files.ts';
import { createSlices } from '../turns.ts';

const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
const CHUNK_BYTES = 256 * 1024;
const OWNER = 0o600;
const EXECUTABLE = 0o100;
const READABLE = 0o444;

/** A copied file. */
export type Copied = {
  readonly bytes: number;
  /** The SHA-256 of its bytes in hexadecimal. */
  readonly sha256: string;
};

/** The options of a copy. */
export type CopyOptions = {
  /** Receives the bytes in order; a chunk is valid until the call returns. */
  readonly read?: (chunk: Buffer) => void;
  /** The permissions of the new file; absent: only those of its owner. One who may read it may execute it, if the source is. */
  readonly mode?: number;
  /** Absent: as the source. */
  readonly isExecutable?: boolean;
  /** Ends the copy. */
  readonly signal?: { readonly aborted: boolean };
};

/**
 * Copies open files to new ones, private but for the permission to execute them. A file system that can share the content of two
 * files (Btrfs, XFS) copies nothing.
 */
export class FileCopier {
  #mayClone = existsSync('/proc/self/fd');
  readonly #slice = createSlices();
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);

  /**
   * Copies the present size of an open file to `target`; what is appended meanwhile is left out. Returns null if the signal
   * was aborted first; the target is then incomplete. Throws system errors.
   */
  async copy(source: number, target: string, options: CopyOptions = {}): Promise<Copied | null> {
    const { read, signal, mode = OWNER } = options;
    const { size, mode: sourceMode } = fstatSync(source);
    const { isExecutable = isExecutableMode(sourceMode) } = options;
    const isCloned = this.#clone(source, target);
    const fd = openSync(target, isCloned ? 'r' : 'wx+', OWNER);
    try {
      fchmodSync(fd, isExecutable ? mode | ((mode & READABLE) >> 2) : mode);
      const end = isCloned ? fstatSync(fd).size : size;
      // Not imported: the module takes long to load, and most runs copy nothing.
      const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
      let bytes = 0;
      while (bytes < end) {
        if (signal?.aborted === true) return null;
        const length = readSync(isCloned ? fd : source, this.#buffer, 0, Math.min(CHUNK_BYTES, end - bytes), bytes);
        if (length === 0) break;
        const chunk = this.#buffer.subarray(0, length);
        if (!isCloned) writeWhole(fd, chunk);
        hash.update(chunk);
        read?.(chunk);
        bytes += length;
        await this.#slice();
      }
      return { bytes, sha256: hash.digest('hex') };
    } finally {
      closeSync(fd);
    }
  }

  #clone(source: number, target: string): boolean {
    if (!this.#mayClone) return false;
    try {
      copyFileSync(`/proc/self/fd/${source}`, target, COPYFILE_FICLONE_FORCE | COPYFILE_EXCL);
      return true;
    } catch (error) {
      if (errorCode(error) === '') throw error;
      // The file system cannot, or another reason that the copy itself will meet.
      this.#mayClone = false;
      return false;
    }
  }
}

/** Whether the owner of a file of this mode may execute it. */
export function isExecutableMode(mode: number): boolean {
  return (mode & EXECUTABLE) !== 0;
}

/** What is put below a directory: an open file, or a link with this content. */
export type Placed = { readonly source: number; readonly isExecutable?: boolean } | { readonly link: string };

let placing = 0;

/**
 * Puts a file below `base`, in the place of one of the same path. Under a name of its own first: other programs find it whole, or
 * not at all. `isWanted`: called with the copy; false: it is removed again. Throws as `makeDirectoriesBelow` does.
 */
export async function placeBelow(
  base: string,
  path: string,
  placed: Placed,
  { copier, signal, isWanted = () => true }: Placing,
): Promise<void> {
  const names = path.split('/').filter((name) => name !== '.');
  const directory = makeDirectoriesBelow(base, names.slice(0, -1));
  placing += 1;
  const staged = join(directory, `.wf-${process.pid}-${placing}`);
  try {
    if ('link' in placed) symlinkSync(placed.link, staged);
    else {
      const { source, isExecutable } = placed;
      const mode = 0o666 & ~process.umask();
      const own = isExecutable === undefined ? {} : { isExecutable };
      const copied = await copier.copy(source, staged, { mode, signal, ...own });
      if (copied === null || !isWanted(copied)) return;
    }
    renameSync(staged, join(directory, names.at(-1) ?? ''));
  } finally {
    removeFile(staged);
  }
}

type Placing = {
  readonly copier: FileCopier;
  readonly signal: { readonly aborted: boolean };
  readonly isWanted?: (copied: Copied) => boolean;
};

function writeWhole(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

/**
 * Makes directories below `base`, which is made too, and returns the path of the last one. A link in the place of one could lead
 * anywhere: throws a `WfError` `usage` for what is no directory, and system errors.
 */
export function makeDirectoriesBelow(base: string, names: readonly string[]): string {
  mkdirSync(base, { recursive: true });
  let directory = base;
  for (const name of names) {
    directory = join(directory, name);
    const found = lstatSync(directory, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(directory, { recursive: true });
    else if (!found.isDirectory()) throw new WfError('usage', `"${directory}" is not a directory`);
  }
  return directory;
}

/**
 * The bytes of an open file, which is closed at the end, in chunks that are valid until the next one: those of a range, by
 * default all. Throws system errors.
 */
export async function* readOpen(
  fd: number,
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const slice = createSlices();
  try {
    for (let at = from; at < to; ) {
      const length = readSync(fd, buffer, 0, Math.min(CHUNK_BYTES, to - at), at);
      if (length === 0) return;
      at += length;
      yield buffer.subarray(0, length);
      await slice();
    }
  } finally {
    closeSync(fd);
  }
}
