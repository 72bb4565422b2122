import type { Flush } from '../../flush.ts';
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

/** Creates a function that flushes the files; `mayQueue`: the starter of programs may do it. */
export function createSync({ file, unsynced, calls }: SyncParts): (mayQueue: boolean) => Flush {
  let rest = unsynced;
  const syncPath = (path: string) =>
    calls.syncPath(path).catch((error: unknown) => {
      throw storageError('flush', path, error);
    });
  /** Starts all calls before it waits, so that the disk can combine them; all of them end before this returns. */
  const syncAll = async () => {
    const results = await Promise.allSettled([file.sync(false).done, ...rest.map(syncPath)]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    rest = [];
  };
  return (mayQueue) => (rest.length === 0 ? file.sync(mayQueue) : { done: syncAll(), queued: null });
}
