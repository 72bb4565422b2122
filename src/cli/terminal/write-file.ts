import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { errorCode, WfError } from '#system/errors.ts';
import { removeIfPossible } from '#system/files.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would grow beyond the size limit',
};

/**
 * Writes a file; it appears as a whole or not at all. An existing pipe or device is written in place. Throws a `WfError`
 * `storage`.
 */
export function writeWhole(path: string, text: string): void {
  const draft = openDraft(path);
  try {
    draft.write(text);
    draft.finish();
  } catch (error) {
    throw draft.abandon(error);
  }
}

/** Writes the parts of a file as they arrive, in the same way. */
export async function writeParts(path: string, parts: AsyncIterable<string>): Promise<void> {
  const draft = openDraft(path);
  try {
    for await (const part of parts) draft.write(part);
    draft.finish();
  } catch (error) {
    throw draft.abandon(error);
  }
}

/** Explains an error of the file system; any other error is returned unchanged. */
export function unwritable(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === '' || error instanceof WfError || !(error instanceof Error)) return error;
  const reason = reasons[code] ?? error.message;
  return new WfError('storage', `cannot write "${path}": ${reason}`, { help: 'name another file', cause: error });
}

type Draft = {
  readonly write: (text: string) => void;
  readonly finish: () => void;
  /** Removes the draft, and returns the error to throw. */
  readonly abandon: (error: unknown) => unknown;
};

function openDraft(path: string): Draft {
  const draft = isSpecial(path) ? path : `${path}.${process.pid}.part`;
  let fd: number | null = null;
  const close = () => {
    if (fd !== null) closeSync(fd);
    fd = null;
  };
  return {
    write: (text) => {
      fd ??= openSync(draft, 'w');
      const bytes = Buffer.from(text);
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    },
    finish: () => {
      close();
      if (draft !== path) renameSync(draft, path);
    },
    abandon: (error) => {
      close();
      if (draft !== path) removeIfPossible(draft);
      return unwritable(path, error);
    },
  };
}

function isSpecial(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile();
}
