import { dirname } from 'node:path';
import type { DurableText } from '../../store.ts';
import { makePrivateDirectory, readIfThere, replacePrivate, storing } from './private-files.ts';

/** The text at an absolute path; its directory is created on the first write. */
export function durableText(path: string): DurableText {
  return {
    path,
    read: () => storing('read', path, () => readIfThere(path)),
    write: (text) =>
      storing('write', path, () => {
        makePrivateDirectory(dirname(path));
        replacePrivate(path, text, `${path}.${process.pid}`);
      }),
  };
}
