import { storageError } from '../disk/private-files.ts';
import type { JournalCalls } from './journal-calls.ts';
import type { JournalFile } from './journal-file.ts';

/** Files that are flushed together. */
export type SyncParts = {
  readonly file: JournalFile;
  /** Files and directories that the first flush must cover besides the journal. */
  readonly unsynced: readonly string[];
  readonly calls: JournalCalls;
};

/** Starts all calls before it waits, so that the disk can combine them; all of them end before this returns. */
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
