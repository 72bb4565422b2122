import { type FSWatcher, watch } from 'node:fs';

/** Has the system tell of changes in directories. */
export type DirectoryWatch = {
  /** From now on these, without what is below them. */
  readonly follow: (directories: readonly string[]) => void;
  readonly close: () => void;
};

/** Further ones are left to whoever looks from time to time: what the system can watch is limited for a user. */
const mostDirectories = 256;

/**
 * Calls back when something may have changed. The system may tell too much, too little (network file systems) or nothing
 * (limits): this only makes a look come sooner.
 */
export function watchDirectories(onChange: () => void): DirectoryWatch {
  const watchers = new Map<string, FSWatcher>();
  const end = (directory: string) => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const begin = (directory: string) => {
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        // A directory that was moved away or replaced is watched under its old identity.
        if (event === 'rename' && name === basenameOf(directory)) end(directory);
        onChange();
      });
      watcher.on('error', () => end(directory));
      watchers.set(directory, watcher);
    } catch {
      // It went away just now, or the limit is reached.
    }
  };
  return {
    follow: (directories) => {
      const wanted = new Set(directories.slice(0, mostDirectories));
      for (const directory of watchers.keys()) if (!wanted.has(directory)) end(directory);
      for (const directory of wanted) if (!watchers.has(directory)) begin(directory);
    },
    close: () => {
      for (const directory of [...watchers.keys()]) end(directory);
    },
  };
}

function basenameOf(directory: string): string {
  return directory.slice(directory.lastIndexOf('/') + 1);
}
