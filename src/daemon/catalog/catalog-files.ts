import type { Clock } from '../../engine/clock.ts';
import type { ListedPlaces, ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { LoadWorkflow } from '../../service/workflows/load-workflow.ts';
import { findWorkflowFiles } from '../../service/workflows/workflow-files.ts';
import { type CatalogEntry, isSameListing, isStale, readEntry } from './catalog-entry.ts';
import { createHolds } from './catalog-holds.ts';
import { type Stamps, takeStamps } from './file-stamp.ts';

/** What changed in the workflows directory between two looks, as absolute paths. */
export type CatalogChange = {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
};

/** One look at the workflows directory: what is there, and what of it has to be read. */
export type Look = {
  readonly files: ReadonlySet<string>;
  readonly directories: readonly string[];
  readonly stale: readonly string[];
  /** Whether something changed so lately that it is left for the next look. */
  readonly isHeld: boolean;
  readonly stamps: Stamps;
  /** What was read for this look. */
  readonly read: Map<string, CatalogEntry>;
};

/** What is known of the workflows directory. A look is made, its stale files are read, then it is committed as a whole. */
export type CatalogFiles = {
  readonly list: () => readonly ListedWorkflow[];
  readonly version: () => number;
  /**
   * `settledMs`: how long a file must have been left alone to be believed. Throws the system's error where the disk fails;
   * then nothing has changed.
   */
  readonly look: (patience: { readonly settledMs: number }) => Look;
  readonly isNewest: (look: Look) => boolean;
  /** Resolves later where the loader reads later. */
  readonly read: (file: string, look: Look) => void | Promise<void>;
  readonly commit: (look: Look) => CatalogChange;
};

/** Starts with nothing known. */
export function createCatalogFiles(
  places: ListedPlaces,
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
    look: ({ settledMs }) => {
      const found = places.dagsDir === null ? { files: [], directories: [] } : findWorkflowFiles(places.dagsDir);
      const stamps = takeStamps(found.files);
      const changed = found.files.filter((file) => isStale(entries.get(file), { stamps, now: clock.now() }));
      const stale = changed.filter((file) => !holds.isBeingWritten(file, entries.get(file), { stamps, settledMs }));
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
      const entry = readEntry(file, places, { stamps, now: clock.now(), load });
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
