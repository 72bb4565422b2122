import type { LogForwarding } from '#core/log-forwarding.ts';
import { pause } from '#system/pause.ts';
import type { ForwardedRecord } from './forwarded-record.ts';
import type { Sink, SinkAnswer } from './http-sink.ts';

/** Counts of records; at any time `queued` equals `forwarded` plus `failed` plus the depth of the queue. */
export type ForwardCounts = {
  readonly queued: number;
  readonly forwarded: number;
  /** Never queued, because the queue was full. */
  readonly dropped: number;
  /** Not accepted by the sink after all retries. */
  readonly failed: number;
  /** Repeated requests. */
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
  /** Milliseconds since an arbitrary time, whatever happens to the clock of the system. */
  readonly now: () => number;
  /** Called when the queue has room again. */
  readonly onRoom: () => void;
};

/** A full queue without progress for this long counts as stuck, in milliseconds. */
const stuckMs = 1000;

/** A queue of records for the sink, sent in order, one request at a time. */
export class ForwardQueue {
  readonly #options: ForwardQueueOptions;
  readonly #records: ForwardedRecord[] = [];
  readonly #end = new AbortController();
  readonly #counts = { queued: 0, forwarded: 0, dropped: 0, failed: 0, retried: 0 };
  /** Failed requests in a row; the backoff grows with them. */
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

  /** Whether waiting for room is pointless: nothing was accepted for a while, or nothing will be. */
  get isStuck(): boolean {
    return this.#end.signal.aborted || (this.isFull && this.#options.now() - this.#lastTakenAt > stuckMs);
  }

  /** Call only while there is room. */
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

  /** Starts closing: a sink that does not respond is abandoned at its next failure, or at once. */
  close(): void {
    this.#isClosed = true;
    if (this.#isDown) this.abort();
  }

  /** Drops all waiting records. */
  abort(): void {
    this.#end.abort();
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  async #work(): Promise<void> {
    // In a later turn than `add`, so that lines that arrive together are sent together.
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
