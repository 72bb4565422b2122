import { addTo } from '#core/data/collections.ts';
import type { NewRuns, RunArchive } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';

export type RunListParts = {
  readonly archive: Pick<RunArchive, 'list' | 'listNew' | 'listStamp' | 'labels' | 'readLabel' | 'timeOf'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** The changes of the directory of the runs. */
export type ListedRuns = {
  readonly stamp: string | null;
  /** New ids, and those whose first event was missing before; newest first. */
  readonly fresh: readonly string[];
  /** The file of the workflow by fresh run; null: the run has no file. Runs without their first event are missing. */
  readonly added: ReadonlyMap<string, string | null>;
  readonly removed: readonly string[];
};

/** The runs of one workflow, oldest first: a new run is added at the end, without copying the others. */
type Group = { readonly file: string; ids: string[] };

/** Up to this number of runs, their own files are read faster than the labels of all runs. */
const FEW_RUNS = 100;
/** A run directory may exist this long before its first event is written. */
export const LONGEST_BIRTH_MS = 5000;

/**
 * The ids of all runs and the files of their workflows, as of the last `take`. A change touches only the runs and
 * workflows that it adds or removes: a daemon may have tens of thousands of runs, and starts some every second.
 */
export class RunList {
  readonly #parts: RunListParts;
  #stamp: string | null = null;
  /** The group of each run; null for a run without a file. */
  readonly #runs = new Map<string, Group | null>();
  readonly #groups = new Map<string, Group>();

  constructor(parts: RunListParts) {
    this.#parts = parts;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Returns the file of the workflow of a run; null also for an unknown run. */
  fileOf(runId: string): string | null {
    return this.#runs.get(runId)?.file ?? null;
  }

  readonly idsOf = (file: string, most: number): readonly string[] =>
    this.#groups.get(file)?.ids.slice(-most).reverse() ?? [];

  readonly files = (): readonly string[] => [...this.#groups.keys()];

  lastIds(): readonly string[] {
    return [...this.#groups.values()].flatMap(({ ids }) => ids.at(-1) ?? []);
  }

  /** Reads the directory; null if it has not changed. */
  read(): ListedRuns | null {
    const { archive } = this.#parts;
    const stamp = archive.listStamp();
    if (stamp !== null && stamp === this.#stamp) return null;
    const { fresh, known } =
      this.#runs.size === 0 ? this.#listAll() : archive.listNew((runId) => this.#runs.has(runId));
    const hasRemoved = known < this.#runs.size;
    if (fresh.length === 0 && !hasRemoved) {
      this.#stamp = stamp;
      return null;
    }
    const added = this.#filesOf(fresh, known);
    const present = hasRemoved ? new Set(archive.list()) : null;
    const removed = present === null ? [] : [...this.#runs.keys()].filter((runId) => !present.has(runId));
    return { stamp: added.size === fresh.length ? stamp : null, fresh, added, removed };
  }

  /** An id read from a listing is a part of its text, all of which would stay in memory with it. */
  #listAll(): NewRuns {
    const ids = this.#parts.archive.list().map((runId) => Buffer.from(runId, 'latin1').toString('latin1'));
    return { fresh: ids, known: 0 };
  }

  /** Accepts what `read` returned. */
  take({ stamp, added, removed }: ListedRuns): void {
    this.#stamp = stamp;
    const gone = new Set(removed);
    for (const group of this.#byGroup(removed).keys()) group.ids = group.ids.filter((runId) => !gone.has(runId));
    for (const runId of removed) this.#runs.delete(runId);
    for (const [runId, file] of added) this.#runs.set(runId, file === null ? null : this.#groupOf(file));
    for (const [group, runIds] of this.#byGroup(added.keys())) this.#add(group, runIds);
    for (const { file, ids: left } of this.#groups.values()) if (left.length === 0) this.#groups.delete(file);
  }

  #add(group: Group, runIds: readonly string[]): void {
    const [last, oldest] = [group.ids.at(-1), runIds.at(-1)];
    if (last === undefined || oldest === undefined || this.#isNewer(oldest, last))
      group.ids.push(...runIds.toReversed());
    else
      group.ids = this.#parts.archive
        .list()
        .filter((runId) => this.#runs.get(runId) === group)
        .reverse();
  }

  #isNewer(runId: string, other: string): boolean {
    const { timeOf } = this.#parts.archive;
    const [time, otherTime] = [timeOf(runId), timeOf(other)];
    return time === otherTime ? runId > other : time > otherTime;
  }

  /** `known`: the number of other runs. */
  #filesOf(fresh: readonly string[], known: number): ListedRuns['added'] {
    const { archive, clock } = this.#parts;
    const labelOf = fresh.length > FEW_RUNS ? archive.labels(known === 0 ? fresh : archive.list()) : archive.readLabel;
    const files = new Map<string, string | null>();
    for (const runId of fresh) {
      const file = labelOf(runId)?.file;
      if (file !== undefined) files.set(runId, file);
      else if (clock.now() - archive.timeOf(runId) >= LONGEST_BIRTH_MS) files.set(runId, null);
    }
    return files;
  }

  #groupOf(file: string): Group {
    const group = this.#groups.get(file) ?? { file, ids: [] };
    this.#groups.set(file, group);
    return group;
  }

  /** Groups known runs that have a file, and keeps their order. */
  #byGroup(runIds: Iterable<string>): ReadonlyMap<Group, readonly string[]> {
    const groups = new Map<Group, string[]>();
    for (const runId of runIds) {
      const group = this.#runs.get(runId) ?? null;
      if (group !== null) addTo(groups, group, runId);
    }
    return groups;
  }
}
