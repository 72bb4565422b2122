import { closeSync, fsyncSync, readFileSync, writeFileSync } from 'node:fs';
import { removeFile } from '#system/files.ts';
import { makePrivateDirectory, openPrivate } from '../disk/private-files.ts';
import { seal, unseal } from '../disk/sealed.ts';
import { launchPath, scratchPath } from '../run-directory.ts';

/** Writes and flushes the launch data of a waiting run; a directory created for it is not flushed. */
export function writeLaunch(directory: string, launch: string): void {
  const scratch = scratchPath(directory);
  makePrivateDirectory(scratch);
  const fd = openPrivate(launchPath(directory), 'wx');
  try {
    writeFileSync(fd, `${seal(JSON.stringify(launch))}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Null if it is missing or damaged. */
export function readLaunch(directory: string): string | null {
  try {
    const launch = unseal(readFileSync(launchPath(directory)).subarray(0, -1));
    return typeof launch === 'string' ? launch : null;
  } catch {
    return null;
  }
}

/** Does nothing if the file does not exist. */
export function removeLaunch(directory: string): void {
  removeFile(launchPath(directory));
}
