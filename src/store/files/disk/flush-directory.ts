import { closeSync, fsyncSync, openSync } from 'node:fs';
import { errorCode } from './private-files.ts';

/** A new name is on the disk once its directory is. */
export function flushDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network and user-space file systems keep directories safe by themselves and refuse to be asked.
    if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
  } finally {
    closeSync(fd);
  }
}
