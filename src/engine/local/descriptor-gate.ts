import type { EndSignal } from '../../processes/end-signal.ts';

/** Lets attempts begin while there are descriptors for them. */
export type DescriptorGate = {
  /** Resolves when the attempt may begin, or when it is asked to end; it then counts until `leave`. */
  readonly enter: (signal: EndSignal) => Promise<void> | null;
  readonly leave: () => void;
};

/** So few attempts need no more than what is reserved: they begin without a look. */
const unseen = 2;

/**
 * A gate for all attempts of this process. One that finds no room waits for another to end, which gives its descriptors back;
 * where no other is running it is let in and will say itself what is missing. So nothing waits for what cannot come.
 */
export function createDescriptorGate(areScarce: () => boolean): DescriptorGate {
  const waiting = new Set<() => void>();
  let running = 0;
  const hasRoom = () => running < unseen || !areScarce();
  const beginNext = () => {
    const [begin] = waiting;
    if (begin === undefined || (running > 0 && !hasRoom())) return;
    begin();
    // What it opens is only seen once it has begun.
    setImmediate(beginNext);
  };
  return {
    enter: (signal) => {
      if (waiting.size === 0 && hasRoom()) {
        running += 1;
        return null;
      }
      return new Promise((resolve) => {
        const begin = () => {
          waiting.delete(begin);
          forget();
          running += 1;
          resolve();
        };
        waiting.add(begin);
        const forget = signal.aborted ? () => {} : signal.onAbort(begin);
        if (signal.aborted) begin();
      });
    },
    leave: () => {
      running -= 1;
      beginNext();
    },
  };
}
