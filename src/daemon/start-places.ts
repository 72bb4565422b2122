/** Limits concurrent work: what exceeds the limit waits, and starts in the order of the calls. */
export type StartPlaces = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates places for concurrent work; `count` is at least 1. */
export function createStartPlaces(count: number): StartPlaces {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
