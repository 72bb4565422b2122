import { closeSync, fsyncSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { makePrivateDirectory, openPrivate } from '../disk/private-files.ts';
import { seal, unseal } from '../disk/sealed.ts';
import { launchPath, scratchPath } from '../run-directory.ts';

/** Writes what a waiting run is to begin with, and flushes it; the directory that it makes for it is not flushed. */
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

/** Null when it is missing or damaged. */
export function readLaunch(directory: string): string | null {
  try {
    const launch = unseal(readFileSync(launchPath(directory)).subarray(0, -1));
    return typeof launch === 'string' ? launch : null;
  } catch {
    return null;
  }
}

/** No error when it is gone already. */
export function removeLaunch(directory: string): void {
  rmSync(launchPath(directory), { force: true });
}
