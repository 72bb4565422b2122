import { WfError } from '../../../errors.ts';
import { systemReason } from '../../../system-problem.ts';

/** What is wrong with a path rather than with the machine. */
const reasons = new Map([
  ['ENOENT', 'no such file or directory'],
  ['ENOTDIR', 'a part of the path is not a directory'],
  ['EISDIR', 'it is a directory'],
  ['ENAMETOOLONG', 'the path is too long'],
  ['ELOOP', 'too many symbolic links'],
]);

/** The code of a failed system call (`ENOSPC`); null for any other error. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** What the disk refused, in plain words: `cannot write "/runs/1/journal.jsonl": no space left on the device`. */
export function storageError(action: string, path: string, cause: unknown): WfError {
  const code = errorCode(cause) ?? '';
  const reason = systemReason(code) ?? reasons.get(code) ?? (cause instanceof Error ? cause.message : String(cause));
  return new WfError('storage', `cannot ${action} "${path}": ${reason}`, { cause });
}

/** Does the work; a system call that fails in it becomes a `WfError` `storage` about `path`. */
export function storing<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof WfError || errorCode(error) === null) throw error;
    throw storageError(action, path, error);
  }
}
