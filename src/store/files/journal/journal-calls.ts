import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { errorCode } from '../disk/private-files.ts';

/** See `JournalCalls`. */
export type QueueSync = (path: string) => Promise<number | null> | null;

/** All system calls on an open journal, so that tests can make each of them fail. */
export type JournalCalls = {
  /** Appends the bytes from `offset` on, possibly only a part; returns the number of bytes written. */
  readonly write: (fd: number, bytes: Uint8Array, offset: number) => number;
  readonly stat: (fd: number) => { readonly size: number; readonly nlink: number };
  readonly truncate: (fd: number, length: number) => void;
  /** Flushes the content of an open file, in the thread pool. */
  readonly syncData: (fd: number) => Promise<void>;
  /** Flushes the content of an open file synchronously. */
  readonly syncDataNow: (fd: number) => void;
  /**
   * Lets the starter of programs flush the file with this path, before it starts the next one. Resolves to the duration in
   * nanoseconds; to null if it could not flush the file. Null: there is no starter.
   */
  readonly queueSync: QueueSync;
  /** Flushes a file or the entries of a directory. */
  readonly syncPath: (path: string) => Promise<void>;
  /** A clock that only goes forward, in nanoseconds. */
  readonly now: () => bigint;
};

/** The system's calls. The synchronous ones take microseconds. */
export const journalCalls: JournalCalls = {
  write: (fd, bytes, offset) => writeSync(fd, bytes, offset),
  stat: (fd) => fstatSync(fd),
  truncate: (fd, length) => ftruncateSync(fd, length),
  syncData: (fd) => settle((done) => fdatasync(fd, done)),
  syncDataNow: (fd) => fdatasyncSync(fd),
  queueSync: () => null,
  syncPath: async (path) => {
    // Only the flush takes long: three tasks of the thread pool, one after the other, would take longer than it.
    const fd = openSync(path, 'r');
    try {
      await settle((done) => fsync(fd, done));
    } catch (error) {
      // Some network and user-space file systems keep directories durable by themselves and refuse the call.
      if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
    } finally {
      closeSync(fd);
    }
  },
  now: process.hrtime.bigint,
};

function settle(call: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
