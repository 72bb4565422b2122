import { statSync } from 'node:fs';
import {
  findWorkflowFiles,
  type ListedWorkflow,
  type ListingPaths,
  type LoadWorkflow,
  loadListed,
} from '#service/workflows.ts';
import { errorCode, tryOr } from '#system/errors.ts';
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
  readonly read: Map<string, CatalogEntry>;
};

/** The known state of the workflows directory. After a scan, its stale files are read; then the scan is committed as a whole. */
export class CatalogFiles {
  readonly #paths: ListingPaths;
  readonly #now: () => number;
  readonly #load: LoadWorkflow;
  readonly #entries = new Map<string, CatalogEntry>();
  readonly #holds: Holds;
  #list: readonly ListedWorkflow[] = [];
  #version = 1;
  #newest: Look | null = null;

  constructor(paths: ListingPaths, now: () => number, load: LoadWorkflow) {
    this.#paths = paths;
    this.#now = now;
    this.#load = load;
    this.#holds = new Holds(now);
  }

  readonly list = (): readonly ListedWorkflow[] => this.#list;

  readonly version = (): number => this.#version;

  isNewest(look: Look): boolean {
    return look === this.#newest;
  }

  /**
   * Scans the directory. `settledMs`: the time without a change after which a file is read; `takesNew`: files that are not
   * listed yet are read at once. Throws the system's error if the disk fails; the known state is then unchanged.
   */
  look({ settledMs, takesNew = false }: { readonly settledMs: number; readonly takesNew?: boolean }): Look {
    const { dagsDir } = this.#paths;
    const found = dagsDir === null ? { files: [], directories: [] } : findWorkflowFiles(dagsDir);
    const stamps = new Stamps(found.files);
    const changed = found.files.filter((file) => isStale(this.#entries.get(file), stamps, this.#now()));
    const stale = changed.filter((file) => {
      const entry = this.#entries.get(file);
      return (takesNew && entry === undefined) || !this.#holds.isBeingWritten(file, entry, stamps, settledMs);
    });
    stale.sort((a, b) => stamps.of(a).size - stamps.of(b).size);
    const present = new Set(found.files);
    const missing = [...this.#entries.keys()].filter((file) => !present.has(file));
    const awaited = missing.filter((file) => this.#holds.isBeingReplaced(file, settledMs));
    this.#holds.keepOnly([...changed, ...missing]);
    this.#newest = {
      files: new Set([...present, ...awaited]),
      directories: found.directories,
      stale,
      isHeld: stale.length < changed.length || awaited.length > 0,
      stamps,
      read: new Map(),
    };
    return this.#newest;
  }

  /** Reads a file with its inputs for a scan; returns a promise if the loader does. */
  read(file: string, { stamps, read }: Look): void | Promise<void> {
    const { base } = this.#paths;
    const now = this.#now();
    // Taken before the files are read, so that a later change is noticed.
    stamps.of(file);
    if (base !== null) stamps.of(base);
    const listed = loadListed(file, this.#paths, this.#load);
    if (!(listed instanceof Promise)) return void read.set(file, entryOf(listed, base, stamps, now));
    return listed.then((found) => void read.set(file, entryOf(found, base, stamps, now)));
  }

  commit(look: Look): CatalogChange {
    const change = apply(look, this.#entries);
    if (change.added.length + change.changed.length + change.removed.length > 0) {
      this.#list = [...this.#entries.values()].map(({ listed }) => listed).sort((a, b) => (a.file < b.file ? -1 : 1));
      this.#version += 1;
    }
    return change;
  }
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

/** The maximum time for which a constantly changing file is held back. */
const LONGEST_MS = 1000;

/** The files left for a later scan, since a program may still be writing them. */
class Holds {
  readonly #heldSince = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the file or one of its imports was written so recently that it may be incomplete. */
  isBeingWritten(file: string, entry: CatalogEntry | undefined, stamps: Stamps, settledMs: number): boolean {
    return this.#hold(file, (heldMs) => {
      const times = (entry?.inputs ?? [file]).map((path) => stamps.of(path).changedAt ?? 0);
      // A time in the future comes from another machine's clock and is ignored.
      const age = this.#now() - Math.max(...times);
      return age >= 0 && age < settledMs && heldMs < LONGEST_MS;
    });
  }

  /** Whether the file may be missing only briefly: some editors move the old file away before they write the new one. */
  isBeingReplaced(file: string, settledMs: number): boolean {
    return this.#hold(file, (heldMs) => heldMs < settledMs);
  }

  keepOnly(files: readonly string[]): void {
    const kept = new Set(files);
    for (const file of this.#heldSince.keys()) if (!kept.has(file)) this.#heldSince.delete(file);
  }

  #hold(file: string, isYoung: (heldMs: number) => boolean): boolean {
    const now = this.#now();
    const since = Math.min(this.#heldSince.get(file) ?? now, now);
    const holds = isYoung(now - since);
    if (holds) this.#heldSince.set(file, since);
    else this.#heldSince.delete(file);
    return holds;
  }
}

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

/** The coarsest resolution of file times in use: two seconds. */
const COARSEST_MS = 2000;

/** The diagnostics that may disappear when another file appears or changes. */
const unresolved: ReadonlySet<string> = new Set(['import-not-found', 'import-outside', 'unreadable']);

function entryOf(listed: ListedWorkflow, base: string | null, stamps: Stamps, now: number): CatalogEntry {
  const { file } = listed;
  const inputs = [...new Set([file, ...listed.sources.map(({ path }) => path), ...(base === null ? [] : [base])])];
  const times = inputs.map((path) => stamps.of(path).changedAt ?? 0);
  const imports = listed.sources.filter(({ path }) => path !== file && path !== base);
  // The stamp of an import may be younger than its text, and that of an older file does not raise doubts.
  const isCurrent = imports.every(({ path, text }) => holdsText(path, text));
  return {
    listed,
    inputs,
    key: isCurrent ? keyOf(listed, inputs, stamps) : '',
    seenAt: now,
    doubtedUntil: Math.min(Math.max(...times), now) + COARSEST_MS,
  };
}

function isStale(entry: CatalogEntry | undefined, stamps: Stamps, now: number): boolean {
  if (entry === undefined || keyOf(entry.listed, entry.inputs, stamps) !== entry.key) return true;
  if (entry.seenAt >= entry.doubtedUntil) return false;
  if (!entry.listed.sources.every(({ path, text }) => holdsText(path, text))) return true;
  entry.seenAt = now;
  return false;
}

function isSameListing(one: ListedWorkflow, other: ListedWorkflow): boolean {
  const keys = ['sources', 'diagnostics', 'workflow'] as const;
  return keys.every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]));
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

/** The stamps of one time: each file is examined once, the listed ones at the start. */
class Stamps {
  readonly #files: readonly string[];
  readonly #taken: Map<string, FileStamp>;
  #tree: string | null = null;

  constructor(files: readonly string[]) {
    this.#files = files;
    this.#taken = new Map(files.map((path) => [path, stampOf(path)]));
  }

  of(path: string): FileStamp {
    const stamp = this.#taken.get(path) ?? stampOf(path);
    this.#taken.set(path, stamp);
    return stamp;
  }

  /** Returns a text that changes with the listed files and the list. */
  ofTree(): string {
    this.#tree ??= this.#files.map((path) => `${path} ${this.#taken.get(path)?.key}`).join('\n');
    return this.#tree;
  }
}

function holdsText(path: string, text: string): boolean {
  return tryOr(false, () => readRegular(path).toString('utf8') === text);
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
