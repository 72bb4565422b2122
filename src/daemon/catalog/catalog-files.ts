import { statSync } from 'node:fs';
import {
  findWorkflowFiles,
  type ListedWorkflow,
  type ListingPaths,
  type LoadWorkflow,
  loadListed,
} from '#service/workflows.ts';
import type { Clock } from '#system/clock.ts';
import { errorCode } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';

/** The changes of the workflows directory between two scans, as absolute paths. */
export type CatalogChange = {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
};

/** One scan of the workflows directory: its files, and those that must be read. */
export type Look = {
  readonly files: ReadonlySet<string>;
  readonly directories: readonly string[];
  /** Small files first. */
  readonly stale: readonly string[];
  /** Whether a recent change is left for the next scan. */
  readonly isHeld: boolean;
  readonly stamps: Stamps;
  /** The entries read for this scan. */
  readonly read: Map<string, CatalogEntry>;
};

/** The known state of the workflows directory. After a scan, its stale files are read; then the scan is committed as a whole. */
export type CatalogFiles = {
  readonly list: () => readonly ListedWorkflow[];
  readonly version: () => number;
  /**
   * Scans the directory. `settledMs`: the time without a change after which a file is read; `takesNew`: files that are not
   * listed yet are read at once. Throws the system's error if the disk fails; the known state is then unchanged.
   */
  readonly look: (patience: { readonly settledMs: number; readonly takesNew?: boolean }) => Look;
  readonly isNewest: (look: Look) => boolean;
  /** Reads a file for a scan; returns a promise if the loader does. */
  readonly read: (file: string, look: Look) => void | Promise<void>;
  readonly commit: (look: Look) => CatalogChange;
};

/** Creates an empty state. */
export function createCatalogFiles(
  paths: ListingPaths,
  { clock, load }: { readonly clock: Pick<Clock, 'now'>; readonly load: LoadWorkflow },
): CatalogFiles {
  const entries = new Map<string, CatalogEntry>();
  const holds = createHolds(clock);
  let list: readonly ListedWorkflow[] = [];
  let version = 1;
  let newest: Look | null = null;
  return {
    list: () => list,
    version: () => version,
    isNewest: (look) => look === newest,
    look: ({ settledMs, takesNew = false }) => {
      const found = paths.dagsDir === null ? { files: [], directories: [] } : findWorkflowFiles(paths.dagsDir);
      const stamps = takeStamps(found.files);
      const changed = found.files.filter((file) => isStale(entries.get(file), { stamps, now: clock.now() }));
      const isHeld = (file: string) => holds.isBeingWritten(file, entries.get(file), { stamps, settledMs });
      const stale = changed.filter((file) => (takesNew && !entries.has(file)) || !isHeld(file));
      stale.sort((a, b) => stamps.of(a).size - stamps.of(b).size);
      const present = new Set(found.files);
      const missing = [...entries.keys()].filter((file) => !present.has(file));
      const awaited = missing.filter((file) => holds.isBeingReplaced(file, settledMs));
      holds.keepOnly([...changed, ...missing]);
      newest = {
        files: new Set([...present, ...awaited]),
        directories: found.directories,
        stale,
        isHeld: stale.length < changed.length || awaited.length > 0,
        stamps,
        read: new Map(),
      };
      return newest;
    },
    read: (file, { stamps, read }) => {
      const entry = readEntry(file, paths, { stamps, now: clock.now(), load });
      if (entry instanceof Promise) return entry.then((found) => void read.set(file, found));
      return void read.set(file, entry);
    },
    commit: (look) => {
      const change = apply(look, entries);
      if (change.added.length + change.changed.length + change.removed.length > 0) {
        list = [...entries.values()].map(({ listed }) => listed).sort((a, b) => (a.file < b.file ? -1 : 1));
        version += 1;
      }
      return change;
    },
  };
}

function apply({ files, read }: Look, entries: Map<string, CatalogEntry>): CatalogChange {
  const removed = [...entries.keys()].filter((file) => !files.has(file));
  for (const file of removed) entries.delete(file);
  const added: string[] = [];
  const changed: string[] = [];
  for (const [file, entry] of read) {
    const before = entries.get(file);
    const isSame = before !== undefined && isSameListing(before.listed, entry.listed);
    entries.set(file, isSame ? { ...entry, listed: before.listed } : entry);
    if (before === undefined) added.push(file);
    else if (!isSame) changed.push(file);
  }
  return { added, changed, removed };
}

/** The files left for a later scan, since a program may still be writing them. */
type Holds = {
  /** Whether the file or one of its imports was written so recently that it may be incomplete. */
  readonly isBeingWritten: (file: string, entry: CatalogEntry | undefined, patience: Patience) => boolean;
  /** Whether the file may be missing only briefly: some editors move the old file away before they write the new one. */
  readonly isBeingReplaced: (file: string, settledMs: number) => boolean;
  readonly keepOnly: (files: readonly string[]) => void;
};

type Patience = { readonly stamps: Stamps; readonly settledMs: number };

/** The maximum time for which a constantly changing file is held back. */
const longestMs = 1000;

/** Creates an empty set of held files. */
function createHolds(clock: Pick<Clock, 'now'>): Holds {
  const heldSince = new Map<string, number>();
  const hold = (file: string, isYoung: (heldMs: number) => boolean): boolean => {
    const now = clock.now();
    const since = Math.min(heldSince.get(file) ?? now, now);
    const holds = isYoung(now - since);
    if (holds) heldSince.set(file, since);
    else heldSince.delete(file);
    return holds;
  };
  return {
    isBeingWritten: (file, entry, { stamps, settledMs }) =>
      hold(file, (heldMs) => {
        const times = (entry?.inputs ?? [file]).map((path) => stamps.of(path).changedAt ?? 0);
        // A time in the future comes from another machine's clock and is ignored.
        const age = clock.now() - Math.max(...times);
        return age >= 0 && age < settledMs && heldMs < longestMs;
      }),
    isBeingReplaced: (file, settledMs) => hold(file, (heldMs) => heldMs < settledMs),
    keepOnly: (files) => {
      const kept = new Set(files);
      for (const file of heldSince.keys()) if (!kept.has(file)) heldSince.delete(file);
    },
  };
}

/** A file of the catalog, as last read. */
type CatalogEntry = {
  readonly listed: ListedWorkflow;
  /** Every file that was read for it, and the base configuration, which may not exist yet. */
  readonly inputs: readonly string[];
  /** The stamps of the inputs; empty if one of them has changed while they were read. */
  readonly key: string;
  /** When the inputs were last seen unchanged. */
  seenAt: number;
  /** Until then the inputs may change without a change of their stamps, since times of file systems are coarse. */
  readonly doubtedUntil: number;
};

/** The stamps of files at one time. */
type Moment = { readonly stamps: Stamps; readonly now: number };

/** The coarsest resolution of file times in use: two seconds. */
const coarsestMs = 2000;

/** The diagnostics that may disappear when another file appears or changes. */
const unresolved: ReadonlySet<string> = new Set(['import-not-found', 'import-outside', 'unreadable']);

/** The dependencies of reading a file. */
type Reading = Moment & { readonly load: LoadWorkflow };

/** Reads a file with its inputs, synchronously or by a promise, as the loader does. */
function readEntry(
  file: string,
  paths: ListingPaths,
  { load, ...moment }: Reading,
): CatalogEntry | Promise<CatalogEntry> {
  // Taken before the files are read, so that a later change is noticed.
  moment.stamps.of(file);
  if (paths.base !== null) moment.stamps.of(paths.base);
  const listed = loadListed(file, paths, load);
  if (listed instanceof Promise) return listed.then((found) => entryOf(found, paths, moment));
  return entryOf(listed, paths, moment);
}

function entryOf(listed: ListedWorkflow, paths: ListingPaths, { stamps, now }: Moment): CatalogEntry {
  const { file } = listed;
  const inputs = [
    ...new Set([file, ...listed.sources.map(({ path }) => path), ...(paths.base === null ? [] : [paths.base])]),
  ];
  const times = inputs.map((path) => stamps.of(path).changedAt ?? 0);
  const imports = listed.sources.filter(({ path }) => path !== file && path !== paths.base);
  // The stamp of an import may be younger than its text, and that of an older file does not raise doubts.
  const isCurrent = imports.every(({ path, text }) => holdsText(path, text));
  return {
    listed,
    inputs,
    key: isCurrent ? keyOf(listed, inputs, stamps) : '',
    seenAt: now,
    doubtedUntil: Math.min(Math.max(...times), now) + coarsestMs,
  };
}

/** Whether a file has to be read (again). */
function isStale(entry: CatalogEntry | undefined, { stamps, now }: Moment): boolean {
  if (entry === undefined || keyOf(entry.listed, entry.inputs, stamps) !== entry.key) return true;
  if (entry.seenAt >= entry.doubtedUntil) return false;
  if (!entry.listed.sources.every(({ path, text }) => holdsText(path, text))) return true;
  entry.seenAt = now;
  return false;
}

/** Whether two listings are equal. */
function isSameListing(one: ListedWorkflow, other: ListedWorkflow): boolean {
  return (
    isSameValue(one.sources, other.sources) &&
    isSameValue(one.diagnostics, other.diagnostics) &&
    isSameValue(one.workflow, other.workflow)
  );
}

function isSameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function keyOf({ diagnostics }: ListedWorkflow, inputs: readonly string[], stamps: Stamps): string {
  const key = inputs.map((path) => stamps.of(path).key).join(' ');
  return diagnostics.some(({ code }) => unresolved.has(code)) ? `${key} ${stamps.ofTree()}` : key;
}

/** Distinguishes states of a file without reading it. */
type FileStamp = {
  /** Changes with the file. */
  readonly key: string;
  /** When its content last changed, in milliseconds since 1970-01-01 UTC; null: there is no file. */
  readonly changedAt: number | null;
  readonly size: number;
};

/** The stamps of one time: each file is examined once. */
type Stamps = {
  readonly of: (path: string) => FileStamp;
  /** Returns a text that changes with the listed files and the list. */
  readonly ofTree: () => string;
};

/** Returns the stamps of these files, and of others on request. */
function takeStamps(files: readonly string[]): Stamps {
  const taken = new Map<string, FileStamp>(files.map((path) => [path, stampOf(path)]));
  let tree: string | null = null;
  return {
    of: (path) => {
      const stamp = taken.get(path) ?? stampOf(path);
      taken.set(path, stamp);
      return stamp;
    },
    ofTree: () => {
      tree ??= files.map((path) => `${path} ${taken.get(path)?.key}`).join('\n');
      return tree;
    },
  };
}

/** Reads a file and compares it with a text. */
function holdsText(path: string, text: string): boolean {
  try {
    return readRegular(path).toString('utf8') === text;
  } catch {
    return false;
  }
}

/** Returns the stamp of a file, following symbolic links. Never throws: an error is a state too. */
function stampOf(path: string): FileStamp {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return { key: 'missing', changedAt: null, size: 0 };
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return {
      key: `${dev}.${ino}.${size}.${mtimeNs}.${ctimeNs}`,
      changedAt: Number(mtimeNs / 1_000_000n),
      size: Number(size),
    };
  } catch (error) {
    return { key: errorCode(error) || 'unknown', changedAt: null, size: 0 };
  }
}
