import type { LogForwarding } from '../core/log-forwarding.ts';
import type { ForwardedRecord } from './forwarded-record.ts';
import type { Sink, SinkAnswer } from './http-sink.ts';

/** What became of the records; at every moment `queued` is `forwarded`, `failed` and the depth of the queue together. */
export type ForwardCounts = {
  readonly queued: number;
  readonly forwarded: number;
  /** Never queued, since there was no room. */
  readonly dropped: number;
  /** Not taken by the sink, however often it was asked. */
  readonly failed: number;
  /** Requests that were made again. */
  readonly retried: number;
  readonly queueDepth: number;
  readonly queueCapacity: number;
  readonly closed: boolean;
};

export type ForwardQueueOptions = Pick<
  LogForwarding,
  'queueSize' | 'batchSize' | 'maxRetries' | 'initialBackoffMs' | 'maxBackoffMs'
> & {
  readonly sink: Sink;
  readonly now: () => number;
  /** There is room again. */
  readonly onRoom: () => void;
};

/** A full queue out of which nothing has come for so long counts as stuck. */
const stuckMs = 1000;

/** Records that wait for the sink, in their order, one request at a time. */
export class ForwardQueue {
  readonly #options: ForwardQueueOptions;
  readonly #records: ForwardedRecord[] = [];
  readonly #end = new AbortController();
  readonly #counts = { queued: 0, forwarded: 0, dropped: 0, failed: 0, retried: 0 };
  /** Requests in a row that got no answer of use: a sink that is gone is asked less and less, whatever waits for it. */
  #failures = 0;
  #lastTakenAt: number;
  #isDown = false;
  #isClosed = false;
  #working: Promise<void> | null = null;

  constructor(options: ForwardQueueOptions) {
    this.#options = options;
    this.#lastTakenAt = options.now();
  }

  get counts(): ForwardCounts {
    const { queueSize } = this.#options;
    return { ...this.#counts, queueDepth: this.#records.length, queueCapacity: queueSize, closed: this.#isClosed };
  }

  get isFull(): boolean {
    return this.#records.length >= this.#options.queueSize;
  }

  /** Waiting for room is of no use: nothing has been taken for a while, or nothing will be any more. */
  get isStuck(): boolean {
    return this.#end.signal.aborted || (this.isFull && this.#options.now() - this.#lastTakenAt > stuckMs);
  }

  /** To be asked only while there is room. */
  add(record: ForwardedRecord): void {
    if (this.#end.signal.aborted) {
      this.drop(1);
      return;
    }
    if (this.#records.length === 0) this.#lastTakenAt = this.#options.now();
    this.#counts.queued += 1;
    this.#records.push(record);
    this.#working ??= this.#work();
  }

  drop(count: number): void {
    this.#counts.dropped += count;
  }

  /** From now on the end is near: a sink that does not answer is given up at its next failure, or at once. */
  close(): void {
    this.#isClosed = true;
    if (this.#isDown) this.abort();
  }

  /** Gives up what waits. */
  abort(): void {
    this.#end.abort();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  async #work(): Promise<void> {
    // Not in the turn of `add`, so that lines that come together can go together.
    await Promise.resolve();
    while (this.#records.length > 0) {
      const batch = this.#records.slice(0, this.#options.batchSize);
      const answer = await this.#deliver(batch);
      this.#records.splice(0, batch.length);
      this.#counts[answer === 'taken' ? 'forwarded' : 'failed'] += batch.length;
      this.#isDown = answer === 'unavailable';
      if (answer === 'taken') this.#lastTakenAt = this.#options.now();
      if (this.#isClosed && this.#isDown) this.abort();
      this.#options.onRoom();
    }
    this.#working = null;
  }

  async #deliver(batch: readonly ForwardedRecord[]): Promise<SinkAnswer> {
    const { sink, batchSize, maxRetries } = this.#options;
    const { signal } = this.#end;
    const body = JSON.stringify(batchSize === 1 ? batch[0] : batch);
    for (let attempt = 0; attempt <= maxRetries; attempt++) {
      await this.#backOff();
      if (signal.aborted) break;
      if (attempt > 0) this.#counts.retried += 1;
      const answer = await sink.send(body, signal);
      this.#failures = answer === 'unavailable' ? this.#failures + 1 : 0;
      if (answer !== 'unavailable') return answer;
    }
    return 'unavailable';
  }

  async #backOff(): Promise<void> {
    const { initialBackoffMs, maxBackoffMs } = this.#options;
    if (this.#failures === 0) return;
    await pause(Math.min(initialBackoffMs * 2 ** (this.#failures - 1), maxBackoffMs), this.#end.signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
