import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../../engine/clock.ts';
import { loadWorkflow } from '../../language/load.ts';
import type { ListedPlaces, ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { LoadWorkflow } from '../../service/workflows/load-workflow.ts';
import { type CatalogChange, type CatalogFiles, createCatalogFiles, type Look } from './catalog-files.ts';

/** The workflows directory as a process that lives long sees it: read once, then only what has changed. */
export type Catalog = {
  /** Every workflow, broken ones too, in the order of their paths. The same list as long as `version` stays the same. */
  readonly list: () => readonly ListedWorkflow[];
  /** Another number whenever `list` would differ: what was made of it can be kept as long as this stays the same. */
  readonly version: () => number;
  /** Looks now, for whoever has just changed a file. Done at once, unless a large file is read. */
  readonly refresh: () => Promise<void>;
  /** Tells of changes within two seconds; the result ends that. */
  readonly watch: (listener: (change: CatalogChange) => void) => () => void;
  readonly close: () => void;
};

/** How a catalog looks at its directory. Whatever a listener or the disk throws goes to `report`. */
export type CatalogOptions = {
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
  /** Between two looks; a second by default. */
  readonly pollMs?: number;
  /** Reads files at once by default. */
  readonly load?: LoadWorkflow;
};

/** A message of the system comes with the first of many changes: the others are waited for. */
const gatherMs = 50;
/** After so long without a change a file is taken to be written completely. */
const settledMs = 300;
/** How long other work may wait while files are read. */
const sliceMs = 10;

/** Reads the workflows directory, a slice at a time; the catalog then looks by itself until it is closed. */
export async function createCatalog(places: ListedPlaces, options: CatalogOptions): Promise<Catalog> {
  const { clock, report, pollMs = 1000, load = loadWorkflow } = options;
  const files = createCatalogFiles(places, { clock, load });
  const listeners = new Set<(change: CatalogChange) => void>();
  let takeBackTimer = () => {};
  let nextLookAt = Number.POSITIVE_INFINITY;
  let isClosed = false;
  let refreshing: Promise<void> | null = null;

  const publish = (change: CatalogChange) => {
    if (change.added.length + change.changed.length + change.removed.length === 0) return;
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        report(error);
      }
    }
  };
  const lookSoon = (ms: number) => {
    const at = clock.now() + ms;
    // A clock that was set back would put the next look far into the future.
    if (isClosed || (at >= nextLookAt && nextLookAt <= clock.now() + pollMs)) return;
    takeBackTimer();
    nextLookAt = at;
    takeBackTimer = clock.setTimer(at, () => void lookAround());
  };
  const watcher = watchDirectories(() => lookSoon(gatherMs));

  const lookAround = async () => {
    nextLookAt = Number.POSITIVE_INFINITY;
    // A look of its own would make that one pointless.
    if (refreshing !== null) return lookSoon(settledMs);
    try {
      const look = files.look({ settledMs });
      const isWhole = await readInSlices(look, files, () => isClosed);
      if (isWhole) publish(files.commit(look));
      if (!isClosed) watcher.follow(look.directories);
      lookSoon(look.isHeld || !isWhole ? settledMs : pollMs);
    } catch (error) {
      report(error);
      lookSoon(pollMs);
    }
  };

  const refreshNow = async () => {
    const look = files.look({ settledMs: 0 });
    for (const file of look.stale) {
      const reading = files.read(file, look);
      if (reading !== undefined) await reading;
    }
    publish(files.commit(look));
  };

  const first = files.look({ settledMs: 0 });
  await readInSlices(first, files, () => false);
  files.commit(first);
  watcher.follow(first.directories);
  lookSoon(pollMs);
  return {
    list: files.list,
    version: files.version,
    refresh: async () => {
      while (refreshing !== null) await refreshing.catch(() => {});
      refreshing = refreshNow();
      try {
        await refreshing;
      } finally {
        refreshing = null;
      }
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      isClosed = true;
      takeBackTimer();
      watcher.close();
      listeners.clear();
    },
  };
}

/** Reads what is stale and lets other work come in between. False when a newer look has made this one pointless. */
async function readInSlices(look: Look, files: CatalogFiles, isClosed: () => boolean): Promise<boolean> {
  let sliceEnd = performance.now() + sliceMs;
  for (const file of look.stale) {
    if (performance.now() > sliceEnd) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      sliceEnd = performance.now() + sliceMs;
    }
    if (isClosed() || !files.isNewest(look)) return false;
    const reading = files.read(file, look);
    if (reading !== undefined) await reading;
  }
  return !isClosed() && files.isNewest(look);
}

/** Has the system tell of changes in directories. */
type DirectoryWatch = {
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
function watchDirectories(onChange: () => void): DirectoryWatch {
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
