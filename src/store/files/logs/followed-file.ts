import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { reservedDescriptors } from '../../../descriptors.ts';
import { openRegular } from '../../../regular-file.ts';

/**
 * A file that another process appends to, read repeatedly up to its end. It is opened only once it has content, since
 * most steps leave one of their streams empty. A failed read is retried at the next call: following is for display
 * only, and the log itself loses nothing.
 */
export class FollowedFile {
  readonly #path: string;
  #fd: number | null = null;
  #offset: number;

  constructor(path: string, offset: number) {
    this.#path = path;
    this.#offset = offset;
  }

  /** Number of unread bytes. A file that was truncated (as by `> /dev/stderr`) is read from its start. */
  available(): number {
    this.#fd ??= attempt(() => openUnlessEmpty(this.#path), null);
    if (this.#fd === null) return 0;
    const fd = this.#fd;
    const size = attempt(() => fstatSync(fd).size, this.#offset);
    if (size < this.#offset) this.#offset = 0;
    return size - this.#offset;
  }

  /** Reads into the start of the buffer; returns the number of bytes, 0 at the end. */
  read(buffer: Uint8Array, mostBytes: number): number {
    const fd = this.#fd;
    if (fd === null) return 0;
    const read = attempt(() => readSync(fd, buffer, 0, mostBytes, this.#offset), 0);
    this.#offset += read;
    return read;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

function openUnlessEmpty(path: string): number | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.size === 0) return null;
  const fd = openRegular(path);
  if (fd < reservedDescriptors()) return fd;
  // Programs need descriptors more.
  closeSync(fd);
  return null;
}

function attempt<T>(call: () => T, otherwise: T): T {
  try {
    return call();
  } catch {
    return otherwise;
  }
}
