import { closeSync, constants, fstatSync, readSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegular } from '../../../regular-file.ts';
import type { LogFile } from '../../logs.ts';
import { errorCode, storageError } from '../disk/private-files.ts';

const chunkBytes = 64 * 1024;
/** A step may have replaced its log with a pipe or a device, which must not block. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A log in a file, whether or not it exists. Other work can run while it is read. */
export function createLogFile(path: string): LogFile {
  return {
    path,
    size: async () => {
      const stats = await reading(path, () => statSync(path, { throwIfNoEntry: false }));
      return stats?.isFile() ? stats.size : 0;
    },
    read: (from, to = Number.POSITIVE_INFINITY) => readRange(path, from, to),
  };
}

/** The last bytes of a log, read at once; empty for a log that cannot be read. */
export function readEnd(path: string, bytes: number): Buffer {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    const { size } = fstatSync(fd);
    const buffer = Buffer.allocUnsafe(Math.min(size, bytes));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, size - buffer.length));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

async function* readRange(path: string, from: number, to: number): AsyncGenerator<Uint8Array, void> {
  const file = await reading(path, () => openIfThere(path));
  if (file === null) return;
  try {
    const stats = await reading(path, () => file.stat());
    // Bytes written while it is read are left to followers.
    const end = stats.isFile() ? Math.min(to, stats.size) : 0;
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(chunkBytes, end - from)));
    for (let offset = from; offset < end; ) {
      const length = Math.min(buffer.length, end - offset);
      const { bytesRead } = await reading(path, () => file.read(buffer, 0, length, offset));
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  // Loaded when the first log is opened: a run with little output opens none and starts its step earlier.
  const { open } = process.getBuiltinModule('node:fs/promises');
  try {
    return await open(path, flags);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** Waits for `work`; converts the error of a system call to a `WfError` `storage`. */
async function reading<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw errorCode(error) === null ? error : storageError('read', path, error);
  }
}
