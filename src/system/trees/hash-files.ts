import { createHash } from 'node:crypto';
import { type BigIntStats, fstatSync, lstatSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, isMissing } from '../errors.ts';
import { closing, openRegular } from '../files.ts';
import { createSlices } from '../turns.ts';
import { type FilePattern, filePattern, MAX_DEPTH } from './walk-files.ts';

const CHUNK_BYTES = 256 * 1024;
const EXECUTABLE = 0o100n;

/**
 * A file whose time is this close to its reading may change again without another time: the clocks of file systems are coarse,
 * some count in two seconds.
 */
const RACY_MS = 2_000n;

/** A tree that cannot be read as it is; the message names the path. */
export class TreeProblem extends Error {}

/** A file, a link, or something else, as `lstat` describes it. */
export type Found = { readonly path: string; readonly stats: BigIntStats };

/** The files that match one of the patterns and none of those with `!` in front. */
export type Selection = { readonly wanted: readonly FilePattern[]; readonly unwanted: readonly FilePattern[] };

/** Parses patterns of `filePattern`; `!` in front of one leaves its files out. */
export function selectionOf(patterns: readonly string[]): Selection {
  return {
    wanted: patterns.filter((pattern) => !pattern.startsWith('!')).map(filePattern),
    unwanted: patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => filePattern(pattern.slice(1))),
  };
}

/**
 * Visits what a selection matches below a directory, without opening it, until a visit returns false. A directory that does not
 * exist has no files. Throws a `TreeProblem`.
 */
export async function findFiles(
  directory: string,
  { wanted, unwanted }: Selection,
  visit: (found: Found) => boolean | undefined,
  signal?: { readonly aborted: boolean },
): Promise<void> {
  const slice = createSlices();
  const isWanted = (path: string) =>
    wanted.some((pattern) => pattern.matches(path)) && !unwanted.some((pattern) => pattern.matches(path));
  const isEntered = (path: string) =>
    wanted.some((pattern) => pattern.mayContain(path)) && !unwanted.some((pattern) => pattern.matches(path));
  let isOver = false;
  await walk('', 1);

  async function walk(above: string, depth: number): Promise<void> {
    for (const entry of entriesOf(directory, above)) {
      if (isOver || signal?.aborted === true) return;
      const pause = slice();
      if (pause !== null) await pause;
      const path = above === '' ? entry.name : `${above}/${entry.name}`;
      const isMatch = !entry.isDirectory() && isWanted(path);
      if (!isMatch && !(entry.isDirectory() && isEntered(path))) continue;
      if (entry.name.includes('\ufffd')) throw new TreeProblem(`the name of "${path}" is not UTF-8`);
      if (depth > MAX_DEPTH) throw new TreeProblem(`"${path}" is more than ${MAX_DEPTH} directories deep`);
      if (isMatch) {
        const stats = lstatSync(join(directory, path), { bigint: true, throwIfNoEntry: false });
        if (stats !== undefined && visit({ path, stats }) === false) isOver = true;
      } else await walk(path, depth + 1);
    }
  }
}

function entriesOf(directory: string, path: string) {
  try {
    return readdirSync(join(directory, path), { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw problemOf(path === '' ? directory : path, error);
  }
}

/** Remembered hashes of the contents of files, by texts that change with the content. */
export type HashCache = {
  readonly get: (stamp: string) => string | undefined;
  readonly set: (stamp: string, hash: string) => void;
};

/** Hashes files below a directory, each once as long as its device, inode, size and times stay. */
export class FileHasher {
  readonly #cache: HashCache;
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #slice = createSlices();
  #buffer: Buffer | null = null;
  #bytes = 0;

  /** `maxBytes`: the most that it reads of all files together. */
  constructor(cache: HashCache, { now, maxBytes }: { readonly now: () => number; readonly maxBytes: number }) {
    this.#cache = cache;
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the hash of what a program sees of a file: its content and whether it may be executed; of a link also its target.
   * Of a link to a directory only the target counts. Null if the file is gone. Throws a `TreeProblem`.
   */
  async hash(directory: string, { path, stats }: Found): Promise<string | null> {
    const full = join(directory, path);
    try {
      if (stats.isFile()) return await this.#file(full, stats);
      if (!stats.isSymbolicLink()) return 'special';
      const target = createHash('sha256').update(readlinkSync(full)).digest('hex').slice(0, 16);
      const behind = statSync(full, { bigint: true, throwIfNoEntry: false });
      if (behind === undefined) return `link ${target}`;
      return `link ${target} ${behind.isFile() ? await this.#file(full, behind) : 'other'}`;
    } catch (error) {
      if (isMissing(error)) return null;
      throw problemOf(path, error);
    }
  }

  async #file(path: string, stats: BigIntStats): Promise<string> {
    const mode = (stats.mode & EXECUTABLE) === 0n ? '' : ' x';
    const known = this.#cache.get(stampOf(stats));
    if (known !== undefined) return known + mode;
    const readAt = BigInt(this.#now());
    const { hash, after } = await this.#read(path);
    const isSettled = after.mtimeMs + RACY_MS < readAt && after.ctimeMs + RACY_MS < readAt;
    if (isSettled && stampOf(after) === stampOf(stats)) this.#cache.set(stampOf(stats), hash);
    return hash + mode;
  }

  async #read(path: string): Promise<{ readonly hash: string; readonly after: BigIntStats }> {
    this.#buffer ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const buffer = this.#buffer;
    const hash = createHash('sha256');
    const fd = openRegular(path);
    return closingLater(fd, async () => {
      for (let at = 0; ; ) {
        const length = readSync(fd, buffer, 0, CHUNK_BYTES, at);
        if (length === 0) return { hash: hash.digest('hex'), after: fstatSync(fd, { bigint: true }) };
        hash.update(buffer.subarray(0, length));
        at += length;
        this.#bytes += length;
        if (this.#bytes > this.#maxBytes)
          throw new TreeProblem(`more than ${this.#maxBytes / 2 ** 30} GiB have to be read`);
        const pause = this.#slice();
        if (pause !== null) await pause;
      }
    });
  }
}

async function closingLater<T>(fd: number, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } finally {
    closing(fd, () => {});
  }
}

/** A text that changes when the content of a file may have changed. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

function problemOf(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === '') return error;
  const reason = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : code;
  return new TreeProblem(`"${path}" cannot be read: ${reason}`);
}
