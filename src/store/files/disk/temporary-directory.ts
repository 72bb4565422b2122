import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { keepOwnerBits, makePrivateDirectory } from './private-files.ts';
import { storing } from './storage-error.ts';

/** A directory of mode 0700 for as long as it is needed. Every method throws a `WfError` `storage` when the disk refuses. */
export type TemporaryDirectory = {
  readonly path: string;
  /** The path of a directory inside, which is made on first use. */
  readonly make: (name: string) => string;
  /** Removes it with all its content; no error when it is gone already. */
  readonly remove: () => void;
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
    remove: () => storing('remove', path, () => rmSync(path, { recursive: true, force: true })),
  };
}
