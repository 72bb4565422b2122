import type { NumberedChange } from '../service/served.ts';

/** Changes in order, numbered from 1; only the newest are kept. */
export type ChangeLog<Change> = {
  /** Adds a change. `key` identifies its subject: older changes with the same key are dropped. */
  readonly add: (key: string, change: Change) => void;
  /** Returns the number of the newest change. */
  readonly position: () => number;
  /** Returns the changes after a position, one for each key; null if the log no longer goes back to the position. */
  readonly since: (position: number) => readonly NumberedChange<Change>[] | null;
};

/** Creates an empty log that keeps at most `maxChanges` changes. */
export function createChangeLog<Change>(maxChanges: number): ChangeLog<Change> {
  let kept: (NumberedChange<Change> & { readonly key: string })[] = [];
  const newest = new Map<string, number>();
  let count = 0;
  const forget = (surplus: number) => {
    for (const { key, position } of kept.slice(0, surplus)) if (newest.get(key) === position) newest.delete(key);
    kept = kept.slice(surplus);
  };
  return {
    position: () => count,
    add: (key, change) => {
      count += 1;
      kept.push({ position: count, key, change });
      newest.set(key, count);
      // Rare, since it copies the kept changes.
      if (kept.length >= 2 * maxChanges) forget(kept.length - maxChanges);
    },
    since: (position) => {
      const missed = count - position;
      if (missed < 0 || missed > maxChanges) return null;
      if (missed === 0) return [];
      const isNewest = ({ key, position: own }: { key: string; position: number }) => newest.get(key) === own;
      return kept.slice(-missed).flatMap((each) => {
        return isNewest(each) ? [{ position: each.position, change: each.change }] : [];
      });
    },
  };
}
