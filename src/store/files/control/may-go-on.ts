import { existsSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { errorCode, storing } from '../disk/private-files.ts';
import { launchPath, scratchPath } from '../run-directory.ts';
import { hasOwner } from './owner.ts';

/**
 * Whether a run may be unfinished, judged by its directory: it has an owner, alive or dead, or waits for one. Throws a
 * `WfError` `storage`.
 */
export function mayGoOn(directory: string): boolean {
  return storing('read', directory, () => {
    const names = namesIn(directory);
    if (!names.includes(basename(scratchPath(directory)))) return hasOwner(directory, names);
    // A waiting run has launch data and no owner; its carrier owns it before it removes the launch data.
    return existsSync(launchPath(directory)) || hasOwner(directory, namesIn(directory));
  });
}

/** A run that was withdrawn or removed has no directory. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
