/** Runs work at once, or later if there is too much. Urgent work goes first. */
export type Turns = (work: () => void, isUrgent: boolean) => void;

/**
 * Limits how much work starts in one turn of the event loop. Each turn begins with signals, process exits, data, timers
 * and one new connection. With thousands of requests in one turn no new client would be accepted, and with thousands of
 * steps no stop request would be seen.
 */
export function createTurns(maxPerTurn: number): Turns {
  const urgent: (() => void)[] = [];
  const usual: (() => void)[] = [];
  let left = maxPerTurn;
  let isPlanned = false;
  const plan = () => {
    if (!isPlanned) setImmediate(turn);
    isPlanned = true;
  };
  const turn = () => {
    isPlanned = false;
    left = maxPerTurn;
    for (let work = next(); work !== undefined; work = next()) work();
  };
  const next = () => {
    const work = left > 0 ? (urgent.shift() ?? usual.shift()) : undefined;
    if (work !== undefined) left -= 1;
    if (left < maxPerTurn) plan();
    return work;
  };
  return (work, isUrgent) => {
    const line = isUrgent ? urgent : usual;
    line.push(work);
    // Earlier work goes first.
    if (urgent.length + usual.length > 1) plan();
    else next()?.();
  };
}

/** Resolves in the next turn of the event loop, after signals, data and timers that are due. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Returns a function that yields to the event loop if `ms` milliseconds of work have passed since the last time. It returns
 * null otherwise: a promise for each of many small pieces of work would take as long as the work. In one turn of the event
 * loop one slice of all work begins.
 */
export function createSlices(ms = 10): () => Promise<void> | null {
  // `performance` would load a module of Node for commands that are done before the first slice ends.
  let end = process.uptime() + ms / 1000;
  return () => {
    if (process.uptime() < end) return null;
    return ownTurn().then(() => {
      end = process.uptime() + ms / 1000;
    });
  };
}

/** The work that waits for a turn of its own, in its order. */
const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, in which no other work that waits here begins. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(beginNext);
  });
}

function beginNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(beginNext);
}

/** Does the work for each item, at most `most` concurrently. Rejects with the first error. */
export async function someAtOnce<T>(most: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: most }, worker));
}

/** Limits concurrent work to `count`, at least 1: what exceeds it waits, and starts in the order of the calls. */
export function createSlots(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;
  return async <T>(work: () => Promise<T>): Promise<T> => {
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
