/** What screens showed when they were left. A screen that opens again shows it at once, at the same scroll position. */
export type Kept<T> = {
  readonly get: (key: string) => T | null;
  /** Null: nothing to show again. */
  readonly set: (key: string, value: T | null) => void;
};

const MAX_KEPT = 10;

/** Creates a memory of the last values. */
export function createKept<T>(): Kept<T> {
  const values = new Map<string, T>();
  return {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => {
      values.delete(key);
      if (value === null) return;
      values.set(key, value);
      for (const [oldest] of values) if (values.size > MAX_KEPT) values.delete(oldest);
    },
  };
}
