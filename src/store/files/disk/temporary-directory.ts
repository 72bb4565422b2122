import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { removeDirectory } from '#system/files.ts';
import { keepOwnerBits, makePrivateDirectory, storing } from './private-files.ts';

/** A temporary directory of mode 0700. `make` throws a `WfError` `storage` on a disk error. */
export type TemporaryDirectory = {
  readonly path: string;
  /** Returns the path of a directory inside, created on first use. */
  readonly make: (name: string) => string;
  /** Removes it with all its content. Returns why it still exists; null if it is gone. */
  readonly remove: () => string | null;
};

/** Creates a temporary directory below `parent`. */
export function makeTemporaryDirectory(parent: string): TemporaryDirectory {
  const path = storing('create a directory in', parent, () => mkdtempSync(join(parent, 'wf-')));
  keepOwnerBits(path);
  return {
    path,
    make: (name) => {
      const directory = join(path, name);
      if (!existsSync(directory)) storing('create', directory, () => makePrivateDirectory(directory));
      return directory;
    },
    remove: () => removeDirectory(path),
  };
}
