import type { LogForwarding } from '#core/log-forwarding.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { LogChunk, LogFollower, StoredLogs } from '#store/logs.ts';
import { messageOf } from '#system/errors.ts';
import { nextTurn } from '#system/turns.ts';
import { type ForwardCounts, ForwardQueue, HttpSink } from './forward-queue.ts';
import { eventLine, LineFeed, type LineSource, makeRecord } from './line-feed.ts';
import { openMonitor } from './monitor.ts';

export type LogForwarderOptions = {
  /** Receives problems as lines for the user; they do not affect the run. */
  readonly warn: (message: string) => void;
  /** The time of lines, in milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Milliseconds since an arbitrary time, whatever happens to the clock of the system. */
  readonly elapsed: () => number;
  /** Receives the counts for a monitor of many runs; null if this run has its own monitor. */
  readonly publish: ((counts: ForwardCounts, isFinal: boolean) => void) | null;
};

/** How often to check for a stuck queue, in milliseconds. */
const CHECK_MS = 250;

/**
 * Forwards the lines of a running run: events and logs -> feed -> queue. While the queue is full, the logs are not read
 * further, since they keep everything anyway; when it is stuck, new lines are dropped and counted.
 */
export class LogForwarder {
  readonly #settings: LogForwarding;
  readonly #warn: (message: string) => void;
  readonly #sink: HttpSink;
  readonly #queue: ForwardQueue;
  readonly #feed: LineFeed;
  readonly #due: StoredEvent[] = [];
  readonly #check: NodeJS.Timeout;
  #monitor: { readonly close: () => Promise<void> } | null = null;
  #source: LineSource = { requestId: '', dagName: '' };
  #follower: LogFollower | null = null;
  #isPublishing = false;
  #reported: Promise<void> = Promise.resolve();
  #whenEmpty: () => void = () => {};

  /** Opens the sink, and the monitor if configured. Nothing is sent until there is a line. */
  static async open(settings: LogForwarding, options: LogForwarderOptions): Promise<LogForwarder> {
    const { publish, warn } = options;
    const forwarder = new LogForwarder(settings, await HttpSink.open(settings), options);
    const counts = () => forwarder.#queue.counts;
    if (publish !== null) forwarder.#monitor = reportCounts(counts, publish, warn);
    else if (settings.monitor !== null) forwarder.#monitor = await openMonitor(settings.monitor, counts, { warn });
    return forwarder;
  }

  private constructor(settings: LogForwarding, sink: HttpSink, { now, elapsed, warn }: LogForwarderOptions) {
    this.#settings = settings;
    this.#warn = warn;
    this.#sink = sink;
    this.#queue = new ForwardQueue({ ...settings, sink, now: elapsed, onRoom: () => this.#fill() });
    this.#feed = new LineFeed(now);
    this.#check = setInterval(() => this.#fill(), CHECK_MS).unref();
  }

  /** Call it in the turn in which the run starts. */
  attach(logs: Pick<StoredLogs, 'follow'>): void {
    if (!this.#settings.includeStepOutput) return;
    const deliver = (chunk: LogChunk) => {
      if (this.#feed.isEmpty && this.#queue.isStuck) this.#queue.drop(this.#feed.skip(chunk));
      else this.#feed.output(chunk);
      this.#fill();
    };
    this.#follower = logs.follow({ deliver, isBlocked: () => !this.#feed.isEmpty });
  }

  watch(event: StoredEvent): void {
    if (event.type === 'run.created') this.#source = { requestId: event.runId, dagName: event.workflow };
    if (event.type === 'step.started') this.#follower?.follow(event.step, event.attempt);
    this.#due.push(event);
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    this.#reported = this.#publishDue();
  }

  /** Sends what is left within the given time and until the signal; then stops. */
  async close(patienceMs: number, signal: AbortSignal): Promise<void> {
    const giveUp = () => this.#giveUp();
    const timer = setTimeout(giveUp, patienceMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#queue.close();
    if (signal.aborted) giveUp();
    try {
      await this.#reported;
      await this.#queue.idle();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      clearInterval(this.#check);
      this.#follower?.close();
    }
    this.#sink.close();
    await this.#monitor?.close();
    const { queued, forwarded, dropped } = this.#queue.counts;
    const lost = queued - forwarded + dropped;
    const why = `${this.#sink.name} (${this.#sink.problem ?? 'not sent in time'})`;
    if (lost > 0) this.#warn(`log forwarding: ${lost} of ${queued + dropped} lines were not accepted by ${why}`);
  }

  /** Moves lines into the queue while it has room, and drops them if it is stuck. */
  #fill(): void {
    if (!this.#feed.isEmpty && this.#queue.isStuck) this.#queue.drop(this.#feed.drop());
    while (!this.#queue.isFull) {
      const line = this.#feed.take();
      if (line === null) break;
      this.#queue.add(makeRecord(this.#source, line, this.#settings.fields));
    }
    if (this.#feed.isEmpty) this.#whenEmpty();
  }

  /** The rest stays in the logs. */
  #giveUp(): void {
    this.#queue.abort();
    this.#follower?.close();
    this.#fill();
  }

  /** An event is sent after the output written before it. */
  async #publishDue(): Promise<void> {
    for (let event = this.#due.shift(); event; event = this.#due.shift()) {
      if (endsAttempt(event)) {
        while (this.#follower?.finish(event.step, event.attempt) === false) await this.#feedIsEmpty();
        this.#feed.end(event.step, event.attempt);
      }
      const line = eventLine(event);
      if (line !== null) this.#feed.line(line);
      this.#fill();
    }
    this.#isPublishing = false;
  }

  async #feedIsEmpty(): Promise<void> {
    // Yield even when there is room: much of the log may be left, and other work is waiting.
    await nextTurn();
    if (this.#feed.isEmpty) return;
    await new Promise<void>((resume) => {
      this.#whenEmpty = resume;
    });
  }
}

const EVERY_MS = 500;

/** Reports the counts when they have changed, at most twice a second, and once more on close. */
function reportCounts(
  counts: () => ForwardCounts,
  publish: (counts: ForwardCounts, isFinal: boolean) => void,
  warn: (message: string) => void,
): { readonly close: () => Promise<void> } {
  let reported = '';
  let hasFailed = false;
  const report = (isFinal: boolean) => {
    const now = counts();
    const text = JSON.stringify(now);
    if (text === reported && !isFinal) return;
    try {
      publish(now, isFinal);
      reported = text;
    } catch (error) {
      // It is retried; one warning is enough.
      if (!hasFailed) warn(`cannot report the state of log forwarding: ${messageOf(error)}`);
      hasFailed = true;
    }
  };
  const timer = setInterval(report, EVERY_MS, false).unref();
  return {
    close: async () => {
      clearInterval(timer);
      report(true);
    },
  };
}
