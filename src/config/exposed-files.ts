import { statSync } from 'node:fs';

const READABLE_BY_GROUP = 0o040;
const READABLE_BY_ALL = 0o004;

/**
 * Warnings about files with secrets that others can read, by their modes. Group access to a file of another owner is a
 * usual way to share it with a daemon (`root:wf`, 0640), so only files of this user are checked for their group.
 */
export function exposedFiles(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].flatMap((path) => {
    const readers = readersOf(path);
    return readers === null ? [] : [`warning: ${readers} can read "${path}", which holds a secret: chmod 600 it`];
  });
}

function readersOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if ((stat.mode & READABLE_BY_ALL) !== 0) return 'every user of this machine';
  const isOwn = stat.uid === process.getuid?.();
  return isOwn && (stat.mode & READABLE_BY_GROUP) !== 0 ? 'the group of the file' : null;
}
