import { batch } from '@preact/signals';

/** A state that is read from the daemon, and changed by events that may arrive before the response of an older read. */
export type LiveState = {
  /** Makes a change that an event reports, and makes it again after the response of each read in progress. */
  readonly change: (make: () => void) => void;
  /** Does a read. Its events are recorded until `work` has finished. */
  readonly read: <T>(work: (read: Read) => Promise<T>) => Promise<T>;
};

export type Read = {
  /** Sets the state to the response, then makes the changes again that came since the read began, unless it is obsolete. */
  readonly apply: (set: () => void) => void;
  /** Whether the response of a later read has been applied. */
  readonly isObsolete: () => boolean;
};

/** Creates the record of the reads and changes of a state, which is kept elsewhere. */
export function createLiveState(): LiveState {
  /** The changes since the first of the current reads began. */
  const changes: (() => void)[] = [];
  let active = 0;
  let begun = 0;
  let applied = 0;
  const begin = (): Read => {
    const own = ++begun;
    const first = changes.length;
    const isObsolete = () => own < applied;
    const apply = (set: () => void) => {
      if (isObsolete()) return;
      applied = own;
      batch(() => {
        set();
        for (const make of changes.slice(first)) make();
      });
    };
    return { apply, isObsolete };
  };
  return {
    change: (make) => {
      if (active > 0) changes.push(make);
      make();
    },
    read: async (work) => {
      active += 1;
      try {
        return await work(begin());
      } finally {
        active -= 1;
        if (active === 0) changes.length = 0;
      }
    },
  };
}
