import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfPossible } from '#system/files.ts';
import { makePrivateDirectory, writePrivate } from '../disk/private-files.ts';

/** Replaces a cache file in the directory of the runs atomically, without flushing it. Throws the error of the disk. */
export function replaceCache(runsDir: string, name: string, content: string): void {
  const drafts = join(runsDir, '.new');
  // Named as in `staging.ts`, which removes the leftovers of dead processes.
  const draft = join(drafts, `${process.pid}__${name.replace('.', '_')}-${Math.random().toString(36).slice(2)}`);
  try {
    makePrivateDirectory(drafts);
    writePrivate(draft, content);
    renameSync(draft, join(runsDir, name));
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
}
