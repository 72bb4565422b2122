import { type FSWatcher, watch } from 'node:fs';
import { basename, parse } from 'node:path';
import { addTo, given } from '#core/data/collections.ts';
import { loadWorkflow } from '#language/load.ts';
import type { ServedWorkflows } from '#service/served.ts';
import type { ListedWorkflow, ListingPaths, LoadWorkflow } from '#service/workflows.ts';
import type { Clock } from '#system/clock.ts';
import { reporting, WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { nextTurn, ownTurn } from '#system/turns.ts';
import { SpacedWork } from '../spaced-work.ts';
import { type CatalogChange, CatalogFiles, type Look } from './catalog-files.ts';

/** The workflows directory in the memory of a daemon: read once, then updated by changes. */
export type Catalog = Pick<ServedWorkflows, 'list' | 'version'> & {
  /** Looks for files that were written since the last scan. Many calls at once share a scan, and scans have pauses. */
  readonly findNew: () => Promise<void>;
  /** Scans now, for a caller that has changed a file. Synchronous unless a large file is read. */
  readonly refresh: () => Promise<void>;
  /** Calls a listener within two seconds of a change, until the returned function is called. */
  readonly watch: (listener: (change: CatalogChange) => void) => () => void;
  readonly close: () => void;
};

/** `report` receives errors of listeners and of the disk, and a directory that vanishes; `log` its return. */
type CatalogOptions = {
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
  readonly log?: (line: string) => void;
  /** The interval between scans; a second by default. */
  readonly pollMs?: number;
  /** Reads files; synchronous by default. */
  readonly load?: LoadWorkflow;
  /** The time that a scan waits for large files; five seconds by default. The next one reads the others. */
  readonly waitMs?: number;
};

/** The delay after a change notification, which collects further changes. */
const GATHER_MS = 50;
/** The time without a change after which a file counts as complete. */
const SETTLED_MS = 300;
/** The maximum time of reading files per turn of the event loop. */
const SLICE_MS = 10;
/** The share of the time that scans for new files may take, however often they are asked for, and their longest pause. */
const MAX_SHARE = 0.2;
const LONGEST_PAUSE_MS = 1000;

/** Reads the workflows directory in slices and returns the catalog, which scans by itself until it is closed. */
export async function createCatalog(paths: ListingPaths, options: CatalogOptions): Promise<Catalog> {
  const { clock, report, log = () => {}, pollMs = 1000, load = loadWorkflow, waitMs = 5000 } = options;
  const files = new CatalogFiles(paths, clock.now, load);
  const listeners = new Set<(change: CatalogChange) => void>();
  let cancelTimer = () => {};
  let nextLookAt = Number.POSITIVE_INFINITY;
  let isClosed = false;
  let isScanning = false;
  let isTouched = false;
  let refreshing: Promise<void> | null = null;
  let isThere = false;

  const noteDirectory = ({ directories, isHeld }: Look) => {
    const { dagsDir } = paths;
    // While its files are held, it may only be exchanged for another directory.
    if (dagsDir === null || isHeld || directories.length > 0 === isThere) return;
    isThere = !isThere;
    if (isThere) log(`the workflows directory "${dagsDir}" is back`);
    else {
      const what = `the workflows directory "${dagsDir}" is missing or cannot be read`;
      report(new WfError('storage', `${what}: no workflow can start until it is back`));
    }
  };
  const publish = (change: CatalogChange) => {
    if (change.added.length + change.changed.length + change.removed.length === 0) return;
    for (const listener of listeners) reporting(report, () => listener(change));
  };
  const lookSoon = (ms: number) => {
    const at = clock.now() + ms;
    // A clock that was set back would delay the next scan for long.
    if (isClosed || (at >= nextLookAt && nextLookAt <= clock.now() + pollMs)) return;
    cancelTimer();
    nextLookAt = at;
    cancelTimer = clock.setTimer(at, () => void lookAround());
  };
  const watcher = watchDirectories(() => {
    // The next scan waits for the running one, which it would supersede.
    if (isScanning) isTouched = true;
    else lookSoon(GATHER_MS);
  });

  const lookAround = async () => {
    nextLookAt = Number.POSITIVE_INFINITY;
    // A second scan would supersede the first.
    if (refreshing !== null) return lookSoon(SETTLED_MS);
    isScanning = true;
    isTouched = false;
    let pauseMs = pollMs;
    try {
      const look = files.look({ settledMs: SETTLED_MS });
      const isWhole = await readInSlices(look, files, () => isClosed, waitMs);
      if (isWhole) {
        publish(files.commit(look));
        noteDirectory(look);
      }
      if (!isClosed) watcher.follow(look.directories);
      if (look.isHeld || !isWhole || unreadOf(look) > 0) pauseMs = SETTLED_MS;
    } catch (error) {
      // The thread that reads large files ends with the daemon.
      if (!isClosed) report(error);
    } finally {
      isScanning = false;
      lookSoon(isTouched ? GATHER_MS : pauseMs);
    }
  };

  /** Runs one scan after another, each of which would supersede the one before. */
  const exclusive = async (scan: () => Promise<void>) => {
    while (refreshing !== null) await refreshing.catch(() => {});
    refreshing = scan();
    try {
      await refreshing;
    } finally {
      refreshing = null;
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

  let pauseMs = 0;
  const findNew = async () => {
    const beganAt = performance.now();
    pauseMs = LONGEST_PAUSE_MS;
    const look = files.look({ settledMs: SETTLED_MS, takesNew: true });
    pauseMs = Math.min((performance.now() - beganAt) / MAX_SHARE, LONGEST_PAUSE_MS);
    if (await readInSlices(look, files, () => isClosed, waitMs)) publish(files.commit(look));
  };
  const newFiles = new SpacedWork({ work: () => exclusive(findNew), pauseMs: () => pauseMs, clock, report });

  const first = files.look({ settledMs: 0 });
  await readInSlices(first, files, () => false, waitMs);
  files.commit(first);
  isThere = first.directories.length > 0;
  watcher.follow(first.directories);
  const unread = unreadOf(first);
  if (unread > 0) log(`${unread} workflow files take long to read, and are listed later`);
  lookSoon(unread > 0 ? GATHER_MS : pollMs);
  return {
    list: files.list,
    version: files.version,
    refresh: () => exclusive(refreshNow),
    findNew: newFiles.ask,
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      isClosed = true;
      void newFiles.close();
      cancelTimer();
      watcher.close();
      listeners.clear();
    },
  };
}

function unreadOf({ stale, read }: Look): number {
  return stale.length - read.size;
}

/**
 * Reads stale files in slices between other work, the last ones only if the others took less than `waitMs`. False if a
 * newer scan supersedes this one.
 */
async function readInSlices(
  look: Look,
  files: CatalogFiles,
  isClosed: () => boolean,
  waitMs: number,
): Promise<boolean> {
  let sliceEnd = performance.now() + SLICE_MS;
  let waitedMs = 0;
  for (const file of look.stale) {
    if (performance.now() > sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    if (isClosed() || !files.isNewest(look)) return false;
    const beganAt = performance.now();
    const reading = files.read(file, look);
    if (reading === undefined) continue;
    await reading;
    waitedMs += performance.now() - beganAt;
    if (waitedMs > waitMs) break;
  }
  return !isClosed() && files.isNewest(look);
}

/** The maximum number of watched directories, since the system limits them per user; others are only scanned. */
const MOST_DIRECTORIES = 256;

/**
 * Calls `onChange` when something may have changed. The system may report too much, too little (network file systems) or
 * nothing (limits), so this only makes a scan come sooner.
 */
function watchDirectories(onChange: () => void) {
  const watchers = new Map<string, FSWatcher>();
  const end = (directory: string) => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const begin = (directory: string) => {
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        // A directory that was moved or replaced is still watched under its old identity.
        if (event === 'rename' && name === basename(directory)) end(directory);
        onChange();
      });
      watcher.on('error', () => end(directory));
      watchers.set(directory, watcher);
    } catch {
      // The directory was removed just now, or the limit is reached.
    }
  };
  return {
    /** Watches these directories, without their subdirectories, instead of the previous ones. */
    follow: (directories: readonly string[]) => {
      const wanted = new Set(directories.slice(0, MOST_DIRECTORIES));
      for (const directory of watchers.keys()) if (!wanted.has(directory)) end(directory);
      for (const directory of wanted) if (!watchers.has(directory)) begin(directory);
    },
    close: () => {
      for (const directory of [...watchers.keys()]) end(directory);
    },
  };
}

/** Creates the lookup of names in the catalog. A name is never used as a path. */
export function listedNames(
  catalog: Pick<Catalog, 'list' | 'version' | 'findNew'>,
): Pick<ServedWorkflows, 'has' | 'seek' | 'get' | 'nameOf'> {
  let version: number | null = null;
  let indexed: Index = { full: new Map(), short: new Map() };
  const names = () => {
    if (version === catalog.version()) return indexed;
    version = catalog.version();
    indexed = index(catalog.list());
    return indexed;
  };
  const has = (name: string) => names().full.has(name) || names().short.has(name);
  return {
    has,
    seek: async (name) => {
      if (has(name)) return;
      await catalog.findNew();
      // The error contains similar names: all those that shared the scan would search for them in one turn.
      if (!has(name)) await ownTurn();
    },
    get: (name) => {
      const { full, short } = names();
      const [only, ...others] = full.get(name) ?? short.get(name) ?? [];
      if (only === undefined) throw noSuchWorkflow(name, catalog.list());
      if (others.length === 0) return only;
      throw ambiguous(name, [only, ...others]);
    },
    nameOf: (workflow) => {
      const { base } = parse(workflow.file);
      return names().full.get(base)?.length === 1 ? base : `${workflow.group}/${base}`;
    },
  };
}

/** Workflows by name with extension, and without: `a.yaml` never matches `a.yaml.yaml`. */
type Index = { readonly full: WorkflowsByName; readonly short: WorkflowsByName };
type WorkflowsByName = Map<string, ListedWorkflow[]>;

function index(workflows: readonly ListedWorkflow[]): Index {
  const full: WorkflowsByName = new Map();
  const short: WorkflowsByName = new Map();
  for (const workflow of workflows) {
    const { name, base } = parse(workflow.file);
    for (const called of [base, `${workflow.group}/${base}`]) addTo(full, called, workflow);
    for (const called of [name, `${workflow.group}/${name}`]) addTo(short, called, workflow);
  }
  return { full, short };
}

function noSuchWorkflow(name: string, listed: readonly ListedWorkflow[]): WfError {
  const names = listed.map(({ file }) => parse(file).name);
  return new WfError('not-found', `no workflow "${name}"`, given({ help: didYouMean(nearNames(name, names)) || null }));
}

function ambiguous(name: string, workflows: readonly ListedWorkflow[]): WfError {
  const names = workflows.map(({ file, group }) => `"${group}/${parse(file).name}"`).join(', ');
  return new WfError('conflict', `"${name}" is ambiguous: it matches ${workflows.length} workflows`, {
    help: `call one of them ${names}`,
  });
}
