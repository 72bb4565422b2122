import { changedPaths, type Snapshot } from './scan.ts';

/** What changed while a run went on. */
export type ChangesDuringRun = {
  /** A reason for another run. */
  readonly counted: readonly string[];
  /** Found just now to change in every run, and not counted from now on. */
  readonly discounted: readonly string[];
};

/** Somebody who works on a file may well save it during one run and during the next. */
const runsInARow = 3;

/**
 * Tells files that somebody changes during a run from those that the run writes itself, which would have it run for ever:
 * one that changes during three runs in a row is the run's own, and what happens to it during a run counts no more, until
 * it changes between two runs.
 */
export class OwnWrites {
  readonly #own = new Set<string>();
  #inARow: ReadonlyMap<string, number> = new Map();

  /** Compares what was there before a run and after it. */
  judge(before: Snapshot, after: Snapshot): ChangesDuringRun {
    const changed = changedPaths(before, after).filter((path) => !this.#own.has(path));
    const inARow = new Map(changed.map((path) => [path, (this.#inARow.get(path) ?? 0) + 1]));
    const discounted = changed.filter((path) => (inARow.get(path) ?? 0) >= runsInARow);
    for (const path of discounted) this.#own.add(path);
    this.#inARow = inARow;
    return { counted: changed.filter((path) => !this.#own.has(path)), discounted };
  }

  /** Files that changed while no run went on: somebody does that. */
  changedBetween(paths: readonly string[]): void {
    for (const path of paths) this.#own.delete(path);
    this.#inARow = new Map();
  }
}
