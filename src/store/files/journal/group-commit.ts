/** Shares the flushes of one file, to which numbered entries are appended, among everybody who asks for one. */
export type GroupCommit = {
  /** Everything up to this number was written; not all of it is on the disk yet. */
  readonly mark: (number: number) => void;
  /** Resolves when everything up to this number is on the disk; without one, everything marked before the call. */
  readonly flush: (number?: number) => Promise<void>;
};

/**
 * At most one `sync` runs at a time; callers that come while it runs share the next one, or this one when it covers what they
 * ask for. There is something to flush from the start. A flush that failed is never tried again: the system may have dropped
 * what it could not write, so a later success would prove nothing.
 */
export function createGroupCommit(sync: () => Promise<void>): GroupCommit {
  let written = 0;
  /** What the sync that began last covers, and what is certainly on the disk: before the first, not even nothing. */
  let covered = -1;
  let durable = -1;
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const start = (): Promise<void> => {
    const upTo = written;
    covered = upTo;
    next = null;
    current = sync().then(() => {
      durable = upTo;
      current = null;
    });
    return current;
  };

  return {
    mark: (number) => {
      written = number;
    },
    flush: (number = written) => {
      if (number <= durable) return Promise.resolve();
      if (current === null) return start();
      if (number <= covered) return current;
      next ??= current.then(start);
      return next;
    },
  };
}
