import type { Clock } from '../../engine/clock.ts';
import type { ListedPlaces, ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { LoadWorkflow } from '../../service/workflows/load-workflow.ts';
import { findWorkflowFiles } from '../../service/workflows/workflow-files.ts';
import { type CatalogEntry, isSameListing, isStale, readEntry } from './catalog-entry.ts';
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

/** What is left for a later look, since somebody may be in the middle of writing it. */
type Holds = {
  /** Whether the file, or what it imports, was written so lately that the rest may be to come. */
  readonly isBeingWritten: (file: string, entry: CatalogEntry | undefined, patience: Patience) => boolean;
  /** Whether the file may be gone only for the moment: some editors move the old one away before they write the new. */
  readonly isBeingReplaced: (file: string, settledMs: number) => boolean;
  readonly keepOnly: (files: readonly string[]) => void;
};

type Patience = { readonly stamps: Stamps; readonly settledMs: number };

/** A file that changes all the time is taken as it is, once it was held for so long. */
const longestMs = 1000;

/** Holds nothing yet. */
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
        // A time in the future is that of another machine's clock, and tells nothing.
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
