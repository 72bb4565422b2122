import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { removeDirectory } from '../../../remove-file.ts';
import { keepOwnerBits, makePrivateDirectory, storing } from './private-files.ts';

/** A directory of mode 0700 for as long as it is needed. `make` throws a `WfError` `storage` when the disk refuses. */
export type TemporaryDirectory = {
  readonly path: string;
  /** The path of a directory inside, which is made on first use. */
  readonly make: (name: string) => string;
  /** Removes it with all its content. Returns why it is still there; null when it is gone. */
  readonly remove: () => string | null;
};

/** Makes a new one below `parent`. */
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
