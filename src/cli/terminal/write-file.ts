import { closeSync, openSync, renameSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { errorCode, systemReason, WfError } from '#system/errors.ts';
import { removeIfPossible } from '#system/files.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
};

/** Writes a file as a whole or not at all, and a pipe or device in place. Throws a `WfError` `storage`. */
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

/**
 * Writes a file that must not exist, unless `isForced`: then it replaces one. On a full disk, an existing file is kept and no
 * part of a new one is left. Throws a `WfError` `usage` or `storage`.
 */
export function writeNew(file: string, text: string, isForced: boolean): void {
  if (isForced) {
    writeWhole(file, text);
    return;
  }
  const fd = openNew(file);
  try {
    writeFileSync(fd, text);
  } catch (error) {
    removeIfPossible(file);
    throw unwritable(file, error);
  } finally {
    closeSync(fd);
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx');
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw unwritable(file, error);
    const help = 'name another file, or overwrite it with --force';
    throw new WfError('usage', `"${file}" exists already`, { help, cause: error });
  }
}

/** Explains an error of the file system; any other error is returned unchanged. */
export function unwritable(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === '' || error instanceof WfError || !(error instanceof Error)) return error;
  const reason = reasons[code] ?? systemReason(code) ?? error.message;
  return new WfError('storage', `cannot write "${path}": ${reason}`, { help: 'name another file', cause: error });
}

function openDraft(path: string) {
  const stats = statSync(path, { throwIfNoEntry: false });
  const draft = stats === undefined || stats.isFile() ? `${path}.${process.pid}.part` : path;
  let fd: number | null = null;
  const close = () => {
    if (fd !== null) closeSync(fd);
    fd = null;
  };
  return {
    write: (text: string) => {
      fd ??= openSync(draft, 'w');
      const bytes = Buffer.from(text);
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    },
    finish: () => {
      close();
      if (draft !== path) renameSync(draft, path);
    },
    /** Removes the draft, and returns the error to throw. */
    abandon: (error: unknown): unknown => {
      close();
      if (draft !== path) removeIfPossible(draft);
      return unwritable(path, error);
    },
  };
}
