import { type ListedWorkflow, type ListingPlaces, loadListed } from '../../service/workflows/listed-workflow.ts';
import type { LoadWorkflow } from '../../service/workflows/load-workflow.ts';
import { holdsText, type Stamps } from './file-stamp.ts';

/** A file of the catalog, as last read. */
export type CatalogEntry = {
  readonly listed: ListedWorkflow;
  /** Every file that was read for it, and the base configuration, which may not exist yet. */
  readonly inputs: readonly string[];
  /** The stamps of the inputs. */
  readonly key: string;
  /** When the inputs were last seen unchanged. */
  seenAt: number;
  /** Until then the inputs may change without a change of their stamps, since times of file systems are coarse. */
  readonly doubtedUntil: number;
};

/** The stamps of files at one time. */
export type Moment = { readonly stamps: Stamps; readonly now: number };

/** The coarsest resolution of file times in use: two seconds. */
const coarsestMs = 2000;

/** The diagnostics that may disappear when another file appears or changes. */
const unresolved: ReadonlySet<string> = new Set(['import-not-found', 'import-outside', 'unreadable']);

/** The dependencies of reading a file. */
export type Reading = Moment & { readonly load: LoadWorkflow };

/** Reads a file with its inputs, synchronously or by a promise, as the loader does. */
export function readEntry(
  file: string,
  places: ListingPlaces,
  { load, ...moment }: Reading,
): CatalogEntry | Promise<CatalogEntry> {
  // Taken before the file is read, so that a later change is noticed.
  moment.stamps.of(file);
  const listed = loadListed(file, places, load);
  if (listed instanceof Promise) return listed.then((found) => entryOf(found, places, moment));
  return entryOf(listed, places, moment);
}

function entryOf(listed: ListedWorkflow, places: ListingPlaces, { stamps, now }: Moment): CatalogEntry {
  const { file } = listed;
  const inputs = [
    ...new Set([file, ...listed.sources.map(({ path }) => path), ...(places.base === null ? [] : [places.base])]),
  ];
  const times = inputs.map((path) => stamps.of(path).changedAt ?? 0);
  return {
    listed,
    inputs,
    key: keyOf(listed, inputs, stamps),
    seenAt: now,
    doubtedUntil: Math.min(Math.max(...times), now) + coarsestMs,
  };
}

/** Whether a file has to be read (again). */
export function isStale(entry: CatalogEntry | undefined, { stamps, now }: Moment): boolean {
  if (entry === undefined || keyOf(entry.listed, entry.inputs, stamps) !== entry.key) return true;
  if (entry.seenAt >= entry.doubtedUntil) return false;
  if (!entry.listed.sources.every(({ path, text }) => holdsText(path, text))) return true;
  entry.seenAt = now;
  return false;
}

/** Whether two listings are equal. */
export function isSameListing(one: ListedWorkflow, other: ListedWorkflow): boolean {
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
