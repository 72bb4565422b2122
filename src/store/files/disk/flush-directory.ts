import { closeSync, fsyncSync, openSync } from 'node:fs';
import { errorCode } from './private-files.ts';

/** A new name is on disk once its directory was flushed. */
export function flushDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network and user-space file systems keep directories durable by themselves and refuse the call.
    if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
  } finally {
    closeSync(fd);
  }
}
