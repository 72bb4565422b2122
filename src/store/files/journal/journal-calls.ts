import { close, fdatasync, fdatasyncSync, fstatSync, fsync, ftruncateSync, open, writeSync } from 'node:fs';
import { errorCode } from '../disk/private-files.ts';

/** Every system call that a journal lives on once it is open, so that each of them can be made to fail. */
export type JournalCalls = {
  /** Appends what it can of the bytes from `offset` on; answers how many it took. */
  readonly write: (fd: number, bytes: Uint8Array, offset: number) => number;
  readonly stat: (fd: number) => { readonly size: number; readonly nlink: number };
  readonly truncate: (fd: number, length: number) => void;
  /** Puts the content of an open file on the disk, in the thread pool. */
  readonly syncData: (fd: number) => Promise<void>;
  /** The same, while everything else waits. */
  readonly syncDataNow: (fd: number) => void;
  /** Puts a file or the entries of a directory on the disk. */
  readonly syncPath: (path: string) => Promise<void>;
};

/** The calls themselves. The synchronous ones take microseconds. */
export const journalCalls: JournalCalls = {
  write: (fd, bytes, offset) => writeSync(fd, bytes, offset),
  stat: (fd) => fstatSync(fd),
  truncate: (fd, length) => ftruncateSync(fd, length),
  syncData: (fd) => settle((done) => fdatasync(fd, done)),
  syncDataNow: (fd) => fdatasyncSync(fd),
  syncPath: async (path) => {
    const fd = await new Promise<number>((resolve, reject) => {
      open(path, 'r', (error, opened) => (error ? reject(error) : resolve(opened)));
    });
    try {
      await settle((done) => fsync(fd, done));
    } catch (error) {
      // Some network and user-space file systems keep directories safe by themselves and refuse to be asked.
      if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
    } finally {
      await settle((done) => close(fd, done));
    }
  },
};

function settle(call: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
