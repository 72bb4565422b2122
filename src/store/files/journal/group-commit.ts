/** Shares the flushes of one file among everybody who asks for one. */
export type GroupCommit = {
  /** Something was written that is not yet on the disk. */
  readonly mark: () => void;
  /** Resolves when everything marked before the call is on the disk. */
  readonly flush: () => Promise<void>;
};

/**
 * At most one `sync` runs at a time; callers that come while it runs share the next one, or this one when nothing was
 * marked since it began. There is something to flush from the start. A flush that failed is never tried again: the
 * system may have dropped what it could not write, so a later success would prove nothing.
 */
export function createGroupCommit(sync: () => Promise<void>): GroupCommit {
  let dirty = true;
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const start = (): Promise<void> => {
    dirty = false;
    next = null;
    current = sync().then(() => {
      current = null;
    });
    return current;
  };

  return {
    mark: () => {
      dirty = true;
    },
    flush: () => {
      if (next !== null) return next;
      if (current === null) return dirty ? start() : Promise.resolve();
      if (!dirty) return current;
      next = current.then(start);
      return next;
    },
  };
}
