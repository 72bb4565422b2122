import { batch } from '@preact/signals';

/** A read in progress. */
export type Read = {
  /** Sets the state to the response, then makes the changes again that came since the read began, unless it is obsolete. */
  readonly apply: (set: () => void) => void;
  readonly isObsolete: () => boolean;
};

/** The reads and changes of a state: events change it, and may arrive before the response of an older read. */
export class LiveState {
  /** The changes since the first of the current reads began. */
  readonly #changes: (() => void)[] = [];
  #active = 0;
  #begun = 0;
  #applied = 0;

  /** Makes a change that an event reports, and makes it again after the response of each read in progress. */
  change(make: () => void): void {
    if (this.#active > 0) this.#changes.push(make);
    make();
  }

  /** Does a read. Its events are recorded until `work` has finished. */
  async read<T>(work: (read: Read) => Promise<T>): Promise<T> {
    const own = ++this.#begun;
    const first = this.#changes.length;
    const isObsolete = () => own < this.#applied;
    const apply = (set: () => void) => {
      if (isObsolete()) return;
      this.#applied = own;
      batch(() => {
        set();
        for (const make of this.#changes.slice(first)) make();
      });
    };
    this.#active += 1;
    try {
      return await work({ apply, isObsolete });
    } finally {
      this.#active -= 1;
      if (this.#active === 0) this.#changes.length = 0;
    }
  }
}
