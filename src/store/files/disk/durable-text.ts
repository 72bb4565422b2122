import { dirname } from 'node:path';
import type { DurableText } from '../../store.ts';
import {
  errorCode,
  makePrivateDirectory,
  readIfThere,
  replacePrivate,
  replacePrivateInBackground,
  storageError,
  storing,
} from './private-files.ts';

/** A text in a file. */
type TextFile = DurableText & {
  /** Like `write`, but waits for the disk in another thread. The next write must wait for it. */
  readonly writeInBackground: (text: string) => Promise<void>;
};

/** The text at an absolute path; its directory is created on the first write. */
export function durableText(path: string): TextFile {
  return {
    path,
    read: () => storing('read', path, () => readIfThere(path)),
    write: (text) =>
      storing('write', path, () => {
        makePrivateDirectory(dirname(path));
        replacePrivate(path, text, `${path}.${process.pid}`);
      }),
    writeInBackground: async (text) => {
      try {
        makePrivateDirectory(dirname(path));
        await replacePrivateInBackground(path, text, `${path}.${process.pid}`);
      } catch (error) {
        throw errorCode(error) === null ? error : storageError('write', path, error);
      }
    },
  };
}
