import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { WfError } from '../../errors.ts';
import { removeIfPossible } from '../../remove-file.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
};

/**
 * Writes a file; it appears as a whole or not at all. An existing pipe or device is written in place. Throws a `WfError`
 * `storage`.
 */
export function writeWhole(path: string, parts: Iterable<string>): void {
  const draft = isSpecial(path) ? path : `${path}.${process.pid}.part`;
  try {
    writeParts(draft, parts);
    if (draft !== path) renameSync(draft, path);
  } catch (error) {
    if (draft !== path) removeIfPossible(draft);
    throw unwritable(path, error);
  }
}

/** Explains an error of the file system; any other error is returned unchanged. */
export function unwritable(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  if (code === null || error instanceof WfError || !(error instanceof Error)) return error;
  const reason = reasons[code] ?? error.message;
  return new WfError('storage', `cannot write "${path}": ${reason}`, { help: 'name another file', cause: error });
}

function writeParts(path: string, parts: Iterable<string>): void {
  const fd = openSync(path, 'w');
  try {
    for (const part of parts) {
      const bytes = Buffer.from(part);
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    }
  } finally {
    closeSync(fd);
  }
}

function isSpecial(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile();
}
