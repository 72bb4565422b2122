import type { EndSignal } from '#processes/end-signal.ts';

/** Admits attempts while file descriptors are available. */
export type DescriptorGate = {
  /** Resolves when the attempt may start or is ended; the attempt then counts until `leave`. */
  readonly enter: (signal: EndSignal) => Promise<void> | null;
  readonly leave: () => void;
};

/** Attempts admitted without a check: they need no more than the reserved descriptors. */
const UNCHECKED_ATTEMPTS = 2;

/**
 * A gate for all attempts of this process. An attempt that finds no room waits for another to release its descriptors.
 * If no other attempt is running, it is admitted and reports the shortage itself, so that nothing waits forever.
 */
export function createDescriptorGate(areScarce: () => boolean): DescriptorGate {
  const waiting = new Set<() => void>();
  let running = 0;
  const hasRoom = () => running < UNCHECKED_ATTEMPTS || !areScarce();
  const beginNext = () => {
    const [begin] = waiting;
    if (begin === undefined || (running > 0 && !hasRoom())) return;
    begin();
    // The descriptors an attempt opens are counted only once it has started.
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
