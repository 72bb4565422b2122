import { storageError } from '../disk/private-files.ts';
import type { JournalCalls } from './journal-calls.ts';
import type { JournalFile } from './journal-file.ts';

/** What is put on the disk together. */
export type SyncParts = {
  readonly file: JournalFile;
  /** What the first flush must put on the disk besides the journal: paths of files and directories. */
  readonly unsynced: readonly string[];
  readonly calls: JournalCalls;
};

/** All calls are made before any is waited for, so that the disk can do them together; each ends before this does. */
export function createSync({ file, unsynced, calls }: SyncParts): () => Promise<void> {
  let rest = unsynced;
  return async () => {
    const syncPath = (path: string) =>
      calls.syncPath(path).catch((error: unknown) => {
        throw storageError('flush', path, error);
      });
    const results = await Promise.allSettled([file.sync(), ...rest.map(syncPath)]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    rest = [];
  };
}
