import { closeSync, fsyncSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeIfPossible } from '../../../remove-file.ts';
import type { DurableText } from '../../store.ts';
import { errorCode, flushDirectory, makePrivateDirectory, openPrivate, storing } from './private-files.ts';

/** The text at an absolute path; its directory is created on the first write. */
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
