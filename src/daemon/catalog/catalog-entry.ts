import { type ListedPlaces, type ListedWorkflow, loadListed } from '../../service/workflows/listed-workflow.ts';
import type { LoadWorkflow } from '../../service/workflows/load-workflow.ts';
import { holdsText, type Stamps } from './file-stamp.ts';

/** A file of the catalog as it was read. */
export type CatalogEntry = {
  readonly listed: ListedWorkflow;
  /** Every file that it was made from, and the base configuration, which may come to be. */
  readonly inputs: readonly string[];
  /** The stamps of the inputs. */
  readonly key: string;
  /** When it was last seen to be as it was read. */
  seenAt: number;
  /** Until when the inputs could change under the same stamps: file systems tell times only so finely. */
  readonly doubtedUntil: number;
};

/** The moment at which files are looked at. */
export type Moment = { readonly stamps: Stamps; readonly now: number };

/** The coarsest clock of a file system in use counts in steps of two seconds. */
const coarsestMs = 2000;

/** What may come right when another file appears or changes. */
const unresolved: ReadonlySet<string> = new Set(['import-not-found', 'import-outside', 'unreadable']);

/** What a file is read with. */
export type Reading = Moment & { readonly load: LoadWorkflow };

/** Reads a file with all that belongs to it, at once or later, as the loader does. */
export function readEntry(
  file: string,
  places: ListedPlaces,
  { load, ...moment }: Reading,
): CatalogEntry | Promise<CatalogEntry> {
  // Before the file is read: a change that comes later has to show.
  moment.stamps.of(file);
  const listed = loadListed(file, places, load);
  if (listed instanceof Promise) return listed.then((found) => entryOf(found, places, moment));
  return entryOf(listed, places, moment);
}

function entryOf(listed: ListedWorkflow, places: ListedPlaces, { stamps, now }: Moment): CatalogEntry {
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

/** Whether nobody could tell the two from each other. */
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
