import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import { errorCode, isMissing } from '../errors.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
const DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/** An entry of a directory. `other`: a socket, a pipe or a device. */
export type Entry = {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** False if the name is not UTF-8 or has control characters: the entry cannot be opened by it. */
  readonly isPlain: boolean;
};

/**
 * A directory whose entries are opened by its descriptor, never through a link: whatever is replaced by a link meanwhile, what is
 * opened lies in the directory. Node has no `openat`: paths below `/proc/self/fd` have the same effect. A system without
 * them compares what was opened with what the path names afterwards.
 */
export class OpenDirectory {
  readonly fd: number;
  readonly #path: string;
  readonly #parent: OpenDirectory | null;
  readonly #usesDescriptors: boolean;

  /** Opens a directory, which links may lead to. Throws system errors. */
  static open(path: string, usesDescriptors = existsSync('/proc/self/fd')): OpenDirectory {
    const fd = openSync(path, O_RDONLY | O_DIRECTORY);
    return new OpenDirectory({ fd, path: realpathSync(path), parent: null, usesDescriptors });
  }

  /** Opens a directory as `open` does; null if it does not exist. */
  static openIfThere(path: string): OpenDirectory | null {
    try {
      return OpenDirectory.open(path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  private constructor(opened: { fd: number; path: string; parent: OpenDirectory | null; usesDescriptors: boolean }) {
    this.fd = opened.fd;
    this.#path = opened.path;
    this.#parent = opened.parent;
    this.#usesDescriptors = opened.usesDescriptors;
  }

  /** The entries in the order of their names; none if the directory is gone. Throws other system errors. */
  entries(): readonly Entry[] {
    const path = this.#usesDescriptors ? `/proc/self/fd/${this.fd}` : this.#path;
    return entriesIn(path)
      .map((entry): Entry => {
        const name = entry.name.toString();
        const isPlain = Buffer.from(name).equals(entry.name) && !/\p{Cc}/u.test(name);
        const kind = entry.isFile()
          ? 'file'
          : entry.isDirectory()
            ? 'directory'
            : entry.isSymbolicLink()
              ? 'link'
              : 'other';
        return { name, kind, isPlain };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Opens a directory in this one; null if it is no directory, or gone. Throws other system errors. */
  directory(name: string): OpenDirectory | null {
    const fd = this.#open(name, DIRECTORY);
    if (fd === null) return null;
    const path = join(this.#path, name);
    return new OpenDirectory({ fd, path, parent: this, usesDescriptors: this.#usesDescriptors });
  }

  /** Opens a regular file in this directory for reading; null if it is no regular file, or gone. Throws other system errors. */
  file(name: string): number | null {
    const fd = this.#open(name, FILE);
    if (fd === null || fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    return null;
  }

  /** Opens a regular file by names of directories, and its own; null if there is none. Throws other system errors. */
  fileAt([name = '', ...rest]: readonly string[]): number | null {
    if (rest.length === 0) return this.file(name);
    const directory = this.directory(name);
    try {
      return directory?.fileAt(rest) ?? null;
    } finally {
      directory?.close();
    }
  }

  /** Where a link in this directory leads to: the names from `root`; null if it leads out of it, or nowhere. */
  targetOf(name: string, root: OpenDirectory): readonly string[] | null {
    try {
      const target = realpathSync(this.#pathTo(name));
      return target.startsWith(`${root.#path}${sep}`) ? target.slice(root.#path.length + 1).split(sep) : null;
    } catch (error) {
      if (errorCode(error) === '') throw error;
      return null;
    }
  }

  /** What a link in this directory contains; null if it is no link, or gone. Throws other system errors. */
  linkAt(name: string): string | null {
    try {
      return readlinkSync(this.#pathTo(name));
    } catch (error) {
      if (['EINVAL', 'ENOENT'].includes(errorCode(error))) return null;
      throw error;
    }
  }

  close(): void {
    closeSync(this.fd);
  }

  #pathTo(name: string): string {
    return this.#usesDescriptors ? `/proc/self/fd/${this.fd}/${name}` : join(this.#path, name);
  }

  #open(name: string, flags: number): number | null {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) return null;
    let fd: number;
    try {
      fd = openSync(this.#pathTo(name), flags);
    } catch (error) {
      // A link, a socket, something else than a directory, or gone.
      if (['ELOOP', 'EMLINK', 'ENXIO', 'ENOTDIR', 'ENOENT'].includes(errorCode(error))) return null;
      throw error;
    }
    if (this.#usesDescriptors || this.#holds(name, fd)) return fd;
    closeSync(fd);
    return null;
  }

  /** Whether the path of an entry leads to this open file, without a link on the way. */
  #holds(name: string, fd: number): boolean {
    const isHere =
      this.#parent === null || this.#parent.#holds(this.#path.slice(this.#parent.#path.length + 1), this.fd);
    const found = lstatSync(join(this.#path, name), { throwIfNoEntry: false });
    const opened = fstatSync(fd);
    return isHere && found !== undefined && found.ino === opened.ino && found.dev === opened.dev;
  }
}

function entriesIn(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
