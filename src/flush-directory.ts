import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A new name is on disk once its directory was flushed. */
export function flushDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network and user-space file systems keep directories durable by themselves and refuse the call.
    if (!isRefusal(error)) throw error;
  } finally {
    closeSync(fd);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP');
}
