import { STATUS_CODES } from 'node:http';
import type { LogForwarding } from '#core/log-forwarding.ts';
import { explainRequestError, RequestProblem } from '#executors/http/http-problem.ts';
import { pause } from '#system/time-limit.ts';
import type { ForwardedRecord } from './line-feed.ts';

/** The result of a request: accepted, rejected for good, or worth a retry. */
type SinkAnswer = 'taken' | 'refused' | 'unavailable';

/** Temporary statuses besides 5xx: timeout, too early, too many requests. */
const temporary = new Set([408, 425, 429]);

type SinkSettings = Pick<LogForwarding, 'httpUrl' | 'headers' | 'timeoutMs'>;
type Http = Pick<typeof import('node:http'), 'Agent' | 'request'>;

/** A destination of records: it POSTs over keep-alive connections. */
export class HttpSink {
  readonly name: string;
  /** The reason of the last request that failed; null if none has failed. */
  problem: string | null = null;
  readonly #settings: SinkSettings;
  readonly #request: Http['request'];
  readonly #agent: InstanceType<Http['Agent']>;

  static async open(settings: SinkSettings): Promise<HttpSink> {
    const isSecure = settings.httpUrl.startsWith('https:');
    return new HttpSink(settings, isSecure ? await import('node:https') : await import('node:http'));
  }

  private constructor(settings: SinkSettings, { Agent, request }: Http) {
    this.name = new URL(settings.httpUrl).origin;
    this.#settings = settings;
    this.#request = request;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Sends one request with a JSON body; resolves soon after the signal is aborted, and never rejects. */
  send(body: string, signal: AbortSignal): Promise<SinkAnswer> {
    const { httpUrl, timeoutMs } = this.#settings;
    const fixed = { 'Content-Type': 'application/json', ...this.#settings.headers };
    const headers = { ...fixed, 'Content-Length': Buffer.byteLength(body) };
    return new Promise((resolve) => {
      if (signal.aborted) return resolve('unavailable');
      const request = this.#request(httpUrl, { method: 'POST', agent: this.#agent, headers });
      const giveUp = () => request.destroy(new RequestProblem('given up'));
      const late = () => request.destroy(new RequestProblem(`no complete response within ${timeoutMs / 1000}s`));
      const timer = setTimeout(late, timeoutMs);
      const end = (answer: SinkAnswer, why: unknown) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        if (answer !== 'taken' && !signal.aborted)
          this.problem = explainRequestError(why, { url: new URL(httpUrl), proxy: null, canSkipTls: false });
        resolve(answer);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      request.on('error', (error) => end('unavailable', error));
      request.on('response', (response) => {
        // Drain the body so that the connection can be reused.
        response.resume();
        response.on('close', () => {
          const { statusCode = 0 } = response;
          const status = `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd();
          if (response.complete) end(answerOf(statusCode), status);
          else end('unavailable', response.errored ?? new RequestProblem('the response is not complete'));
        });
      });
      request.end(body);
    });
  }
}

function answerOf(statusCode: number): SinkAnswer {
  if (statusCode >= 200 && statusCode < 300) return 'taken';
  return statusCode >= 500 || temporary.has(statusCode) ? 'unavailable' : 'refused';
}

/** Counts of records; at any time `queued` equals `forwarded` plus `failed` plus the depth of the queue. */
export type ForwardCounts = {
  readonly queued: number;
  readonly forwarded: number;
  /** Never queued, because the queue was full. */
  readonly dropped: number;
  /** Not accepted by the sink after all retries. */
  readonly failed: number;
  readonly retried: number;
  readonly queueDepth: number;
  readonly queueCapacity: number;
  readonly closed: boolean;
};

export type ForwardQueueOptions = Pick<
  LogForwarding,
  'queueSize' | 'batchSize' | 'maxRetries' | 'initialBackoffMs' | 'maxBackoffMs'
> & {
  readonly sink: Pick<HttpSink, 'send'>;
  /** Milliseconds since an arbitrary time, whatever happens to the clock of the system. */
  readonly now: () => number;
  readonly onRoom: () => void;
};

/** A full queue without progress for this long counts as stuck, in milliseconds. */
const STUCK_MS = 1000;

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
    return this.#end.signal.aborted || (this.isFull && this.#options.now() - this.#lastTakenAt > STUCK_MS);
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

  abort(): void {
    this.#end.abort();
  }

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
