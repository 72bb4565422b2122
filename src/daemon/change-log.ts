/** Changes in the order in which they came, numbered from 1; only the newest are kept. */
export type ChangeLog<Change> = {
  /** `key` names what has changed: an older change of the same is passed over from then on. */
  readonly add: (key: string, change: Change) => void;
  /** The number of the newest change. */
  readonly position: () => number;
  /** The changes after a position, each thing once; null when older ones than are kept would be among them. */
  readonly since: (position: number) => readonly NumberedChange<Change>[] | null;
};

/** A change and its number. */
export type NumberedChange<Change> = { readonly position: number; readonly change: Change };

/** An empty log that keeps at most so many changes. */
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
      // Rarely, since it copies what is kept.
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
