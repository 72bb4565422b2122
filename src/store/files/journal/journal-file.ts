import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { RunEvent, StoredEvent } from '#core/run/run.ts';
import { errorCode, tryOr, WfError } from '#system/errors.ts';
import type { Flush } from '../../store.ts';
import { storageError, storing, storingLater } from '../disk/private-files.ts';
import { encodeEvent } from './journal-reader.ts';

/** A journal that is open for appending. */
export type JournalPosition = {
  readonly path: string;
  /** Open with `O_APPEND`: lines of another process are never overwritten. */
  readonly fd: number;
  readonly length: number;
  readonly seq: number;
};

/**
 * A disk that flushes within this time is flushed synchronously: waking a thread takes longer. A slower one blocks
 * nothing.
 */
const QUICK_FLUSH_MS = 0.5;

/** The only writer of one journal. Other processes always see whole lines, except after a crash. */
export class JournalFile {
  readonly path: string;
  readonly fd: number;
  readonly #calls: JournalCalls;
  #length: number;
  #seq: number;
  #isOpen = true;
  /** A write failed, and the partial line could not be cut off yet. */
  #isTorn = false;
  #isDiskQuick = false;

  constructor(position: JournalPosition, calls: JournalCalls) {
    this.path = position.path;
    this.fd = position.fd;
    this.#length = position.length;
    this.#seq = position.seq;
    this.#calls = calls;
  }

  /** Writes all events or, throwing a `WfError` `storage`, none. */
  append(events: readonly RunEvent[]): readonly StoredEvent[] {
    if (!this.#isOpen) throw new Error(`the journal "${this.path}" is closed`);
    if (events.length === 0) return [];
    const stored = events.map((event, index) => ({ seq: this.#seq + 1 + index, ...event }));
    const bytes = Buffer.from(stored.map(encodeEvent).join(''));
    this.#checkEnd();
    this.#write(bytes);
    this.#length += bytes.length;
    this.#seq += stored.length;
    return stored;
  }

  /** Returns why this process is no longer the writer; null if it is, or if the disk does not say. */
  findRemoval(): WfError | null {
    return tryOr(null, () => (this.#isOpen && this.#calls.stat(this.fd).nlink === 0 ? this.#removal() : null));
  }

  close(): void {
    if (!this.#isOpen) return;
    // The descriptor is closed even if this fails.
    this.#isOpen = false;
    closeSync(this.fd);
  }

  /** Flushes all appended events; `mayQueue`: if the disk is quick, the starter of programs may do it. */
  sync(mayQueue: boolean): Flush {
    const queued = mayQueue && this.#isDiskQuick ? this.#calls.queueSync(this.path) : null;
    if (queued === null) return { done: this.#sync(), queued: null };
    // If the starter failed, the reason is found here: the system reports a failed write to each process that flushes.
    const done = queued.then((duration) => (duration === null ? this.#sync() : this.#noteDuration(duration)));
    return { done, queued: this.path };
  }

  #sync(): Promise<void> {
    return storingLater('flush', this.path, async () => {
      const before = this.#calls.now();
      if (this.#isDiskQuick) this.#calls.syncDataNow(this.fd);
      else await this.#calls.syncData(this.fd);
      this.#noteDuration(Number(this.#calls.now() - before));
    });
  }

  #noteDuration(nanoseconds: number): void {
    this.#isDiskQuick = nanoseconds < QUICK_FLUSH_MS * 1e6;
  }

  /** Refuses to continue if this process is no longer the only writer: one that takes over a run replaces this file. */
  #checkEnd(): void {
    const { size, nlink } = storing('write', this.path, () => this.#calls.stat(this.fd));
    if (nlink === 0) throw this.#removal();
    if (size === this.#length) return;
    if (!this.#isTorn) throw this.#refusal('another process has written to it');
    this.#cut();
    if (this.#isTorn) throw this.#refusal('the rest of a failed write cannot be cut off');
  }

  #write(bytes: Uint8Array): void {
    let written = 0;
    try {
      while (written < bytes.length) {
        const taken = this.#calls.write(this.fd, bytes, written);
        if (taken === 0) throw new Error('the system accepts no more bytes and gives no reason');
        written += taken;
      }
    } catch (error) {
      this.#cut();
      throw storageError('write', this.path, error);
    }
  }

  #cut(): void {
    this.#isTorn = true;
    try {
      this.#calls.truncate(this.fd, this.#length);
      this.#isTorn = false;
    } catch {
      // Retried before the next write; until then readers take the partial line for one being written.
    }
  }

  #removal(): WfError {
    return this.#refusal('it was removed, or another process has taken the run over');
  }

  #refusal(reason: string): WfError {
    return new WfError('storage', `cannot write "${this.path}": ${reason}`);
  }
}

/** All system calls on an open journal, so that tests can make each of them fail. */
export type JournalCalls = {
  /** Appends the bytes from `offset` on, possibly only a part; returns the number of bytes written. */
  readonly write: (fd: number, bytes: Uint8Array, offset: number) => number;
  readonly stat: (fd: number) => { readonly size: number; readonly nlink: number };
  readonly truncate: (fd: number, length: number) => void;
  readonly syncData: (fd: number) => Promise<void>;
  readonly syncDataNow: (fd: number) => void;
  /**
   * Lets the starter of programs flush the file with this path. Resolves to the duration in nanoseconds, to null if that
   * failed; null: there is no starter.
   */
  readonly queueSync: (path: string) => Promise<number | null> | null;
  /** Flushes a file or the entries of a directory. */
  readonly syncPath: (path: string) => Promise<void>;
  /** A clock that only goes forward, in nanoseconds. */
  readonly now: () => bigint;
};

/** The system's calls. The synchronous ones take microseconds. */
export const journalCalls: JournalCalls = {
  write: writeSync,
  stat: fstatSync,
  truncate: ftruncateSync,
  syncData: promisify(fdatasync),
  syncDataNow: fdatasyncSync,
  queueSync: () => null,
  syncPath: async (path) => {
    // Only the flush takes long: three tasks of the thread pool, one after the other, would take longer than it.
    const fd = openSync(path, 'r');
    try {
      await promisify(fsync)(fd);
    } catch (error) {
      // Some network and user-space file systems keep directories durable by themselves and refuse the call.
      if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
    } finally {
      closeSync(fd);
    }
  },
  now: process.hrtime.bigint,
};

/** A function that flushes a journal; the first flush covers these files and directories, too. */
export function createSync(
  file: JournalFile,
  unsynced: readonly string[],
  calls: JournalCalls,
): (mayQueue: boolean) => Flush {
  let rest = unsynced;
  const syncPath = (path: string) => storingLater('flush', path, () => calls.syncPath(path));
  /** Starts all calls before it waits, so that the disk can combine them; all of them end before this returns. */
  const syncAll = async () => {
    const results = await Promise.allSettled([file.sync(false).done, ...rest.map(syncPath)]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    rest = [];
  };
  return (mayQueue) => (rest.length === 0 ? file.sync(mayQueue) : { done: syncAll(), queued: null });
}
