import type { StoredEvent } from '#core/run/run.ts';
import type { History } from '#service/history/history.ts';
import type { PastRun } from '#service/history/past-run.ts';
import type { RunFeeds } from '#service/served.ts';

/** The maximum number of events in a batch. */
const mostAtOnce = 500;

/** Creates feeds of a history's runs. Runs without a follower use no memory. */
export function createRunFeeds(history: Pick<History, 'follow'>): RunFeeds {
  const feeds = new Map<string, Feed>();
  return {
    follow: async function* (run, afterSeq, signal) {
      const known = feeds.get(run.runId);
      const feed = known?.isGoing() ? known : new Feed(run);
      feeds.set(run.runId, feed);
      const follower = feed.join(afterSeq, history, signal);
      try {
        yield* eventsOf(feed, follower, signal);
      } finally {
        if (feed.leave(follower) && feeds.get(run.runId) === feed) feeds.delete(run.runId);
      }
    },
  };
}

async function* eventsOf(feed: Feed, follower: Follower, signal: AbortSignal): AsyncGenerator<readonly StoredEvent[]> {
  while (!signal.aborted) {
    const events = feed.take(follower);
    if (events.length > 0) yield events;
    else if (feed.isOver()) return;
    else await change(follower, signal);
  }
}

async function change(follower: Follower, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    follower.wake = resolve;
  });
}

/** The number of events that a follower has received, and the function that wakes it. */
type Follower = { position: number; wake: () => void };

class Feed {
  readonly #run: PastRun;
  readonly #events: StoredEvent[];
  readonly #followers = new Set<Follower>();
  readonly #left = new AbortController();
  #state: 'new' | 'going' | 'over' | { readonly error: unknown } = 'new';

  constructor(run: PastRun) {
    this.#run = run;
    this.#events = [...(run.stored?.events ?? [])];
  }

  join(position: number, history: Pick<History, 'follow'>, signal: AbortSignal): Follower {
    const follower = { position, wake: () => {} };
    this.#followers.add(follower);
    signal.addEventListener('abort', () => follower.wake(), { once: true });
    if (this.#state === 'new') void this.#pump(history);
    return follower;
  }

  /** Removes a follower; returns whether it was the last. */
  leave(follower: Follower): boolean {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return false;
    this.#left.abort();
    return true;
  }

  take(follower: Follower): readonly StoredEvent[] {
    const events = this.#events.slice(follower.position, follower.position + mostAtOnce);
    follower.position += events.length;
    return events;
  }

  isGoing(): boolean {
    return this.#state === 'going';
  }

  /** Whether the feed has ended. Throws the error that ended the reading of the journal. */
  isOver(): boolean {
    if (typeof this.#state === 'object') throw this.#state.error;
    return this.#state === 'over';
  }

  async #pump(history: Pick<History, 'follow'>): Promise<void> {
    this.#state = 'going';
    try {
      for await (const event of history.follow(this.#run, this.#left.signal)) this.#add(event);
      this.#state = 'over';
    } catch (error) {
      this.#state = { error };
    }
    this.#wakeAll();
  }

  #add(event: StoredEvent): void {
    const before = event.seq - 1;
    if (before < this.#events.length) {
      this.#events.length = before;
      for (const follower of this.#followers) follower.position = Math.min(follower.position, before);
    }
    this.#events.push(event);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const { wake } of this.#followers) wake();
  }
}
