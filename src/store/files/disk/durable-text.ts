import { closeSync, fsyncSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeIfPossible } from '../../../remove-file.ts';
import { flushDirectory } from './flush-directory.ts';
import { errorCode, makePrivateDirectory, openPrivate, storing } from './private-files.ts';

/** A small private text that survives whatever happens: a reader finds the old one or the new one, whole. */
export type DurableText = {
  /** For messages. */
  readonly path: string;
  /** Null when it was never written. Throws a `WfError` `storage`. */
  readonly read: () => string | null;
  /** Returns when the text is on the disk. Throws a `WfError` `storage`; then the old one is still there. */
  readonly write: (text: string) => void;
};

/** The text at an absolute path; its directory is made when it is written. */
export function durableText(path: string): DurableText {
  return {
    path,
    read: () => storing('read', path, () => readIfThere(path)),
    write: (text) => storing('write', path, () => replace(path, text)),
  };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function replace(path: string, text: string): void {
  makePrivateDirectory(dirname(path));
  const draft = `${path}.${process.pid}`;
  try {
    const fd = openPrivate(draft, 'w');
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (error) {
    removeIfPossible(draft);
    throw error;
  }
  flushDirectory(dirname(path));
}
