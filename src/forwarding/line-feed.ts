import { staleSummary } from '#core/fingerprint.ts';
import type { RecordField } from '#core/log-forwarding.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { LogChunk, LogStream } from '#store/logs.ts';

/** One line for the sink, in its wire format. */
export type ForwardedRecord = {
  readonly requestId: string;
  readonly dagName: string;
  /** Empty for lines about the run as a whole. */
  readonly stepName: string;
  readonly line: string;
  readonly timestamp?: string;
  /** `output`, `stdout` or `stderr`, or `run` for lines about the run itself. */
  readonly stream?: string;
  readonly attempt?: number;
};

/** The run that produced the lines. */
export type LineSource = { readonly requestId: string; readonly dagName: string };

/** All data of a line. */
type Line = {
  readonly stepName: string;
  readonly line: string;
  readonly at: number;
  readonly stream: LogStream | 'run';
  readonly attempt: number;
};

/** Builds a record with the four mandatory fields and the requested ones. */
export function makeRecord(source: LineSource, line: Line, fields: readonly RecordField[]): ForwardedRecord {
  return {
    ...source,
    stepName: line.stepName,
    line: line.line,
    ...(fields.includes('timestamp') ? { timestamp: new Date(line.at).toISOString() } : {}),
    ...(fields.includes('stream') ? { stream: line.stream } : {}),
    ...(fields.includes('attempt') ? { attempt: line.attempt } : {}),
  };
}

/** Describes an event in one line; null for internal events. */
export function eventLine(event: StoredEvent): Line | null {
  const { at } = event;
  const toLine = (line: string, stepName = '', attempt = 0): Line => ({ stepName, line, at, stream: 'run', attempt });
  switch (event.type) {
    case 'run.started':
      return toLine('run started');
    case 'step.restored':
      return toLine(`step ${event.step} taken over: ${event.status}`, event.step);
    case 'step.outdated':
      return toLine(`step ${event.step} runs: ${staleSummary(event)}`, event.step, event.attempt);
    case 'step.started': {
      const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : '';
      return toLine(`step ${event.step} started${again}`, event.step, event.attempt);
    }
    case 'step.serving':
      return toLine(`step ${event.step} ready`, event.step, event.attempt);
    case 'step.ending':
      return toLine(`step ${event.step} ending`, event.step, event.attempt);
    case 'step.expanded':
      return toLine(`step ${event.step} has ${event.items.length} items`, event.step);
    case 'step.canceling':
      return toLine(`step ${event.step} is being ended${because(event.message)}`, event.step);
    case 'run.blocked':
      return toLine(`run waits for ${event.why} ${event.name}`);
    case 'step.blocked':
      return toLine(`step ${event.step} waits for ${event.why} ${event.name}`, event.step, event.attempt);
    case 'run.late':
      return toLine('run is late');
    case 'step.late':
      return toLine(`step ${event.step} is late`, event.step);
    case 'step.waiting': {
      const { outcome, why, step, attempt } = event;
      const message = 'message' in outcome ? `: ${outcome.message}` : '';
      return toLine(`step ${step} ${outcome.status}${message}; ${why} follows`, step, attempt);
    }
    case 'step.finished':
      if (event.cached) return toLine(`step ${event.step} is up to date, as of run ${event.from}`, event.step);
      return toLine(`step ${event.step} ${event.status}${because(event.message)}`, event.step, event.attempt);
    case 'step.held':
      return toLine(`step ${event.step} waits for approval${because(event.prompt)}`, event.step, event.attempt);
    case 'step.answered':
      return toLine(`step ${event.step} ${event.answer}${because(event.comment)}`, event.step);
    case 'run.canceling':
      return toLine(`run is being ended${because(event.message)}`);
    case 'run.warned':
      return toLine(`warning: ${event.message}`, event.step ?? '');
    case 'run.finished':
      return toLine(`run ${event.status}${because(event.message)}`);
    case 'step.marked':
      return toLine(`step ${event.step} marked as ${event.status} by ${event.by}`, event.step);
    case 'run.created':
    case 'run.queued':
    case 'run.owned':
    case 'run.prepared':
    case 'run.delayed':
    case 'run.handling':
    case 'step.scheduled':
    case 'step.acquired':
    case 'step.contained':
    case 'step.ready':
    case 'artifact.kept':
      return null;
  }
}

function because(message: string): string {
  return message === '' ? '' : `: ${message}`;
}

/** Longer lines are split into pieces of this many bytes. */
const MAX_LINE_BYTES = 64 * 1024;

type Stream = Pick<Line, 'stepName' | 'attempt'> & { readonly stream: LogStream; begun: Buffer };
type Item =
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'bytes'; readonly from: Stream; readonly at: number; bytes: Buffer }
  | { readonly kind: 'end'; readonly from: Stream; readonly at: number };

/** Splits output into lines. Lines are cut on demand, so that waiting output takes little memory. */
export class LineFeed {
  readonly #now: () => number;
  readonly #streams = new Map<string, Stream>();
  #items: Item[] = [];
  #next = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#next === this.#items.length;
  }

  output({ step, attempt, stream, bytes }: LogChunk): void {
    const from = this.#stream(step, attempt, stream);
    this.#items.push({ kind: 'bytes', from, at: this.#now(), bytes: Buffer.from(bytes) });
  }

  line(line: Line): void {
    this.#items.push({ kind: 'line', line });
  }

  /** Ends an attempt: an unterminated last line becomes a line. */
  end(step: string, attempt: number): void {
    for (const stream of ['output', 'stdout', 'stderr'] as const) {
      const from = this.#streams.get(streamKey(step, attempt, stream));
      if (from) this.#items.push({ kind: 'end', from, at: this.#now() });
      this.#streams.delete(streamKey(step, attempt, stream));
    }
  }

  /** The next complete line; null if there is none. */
  take(): Line | null {
    for (let item = this.#items[this.#next]; item; item = this.#items[this.#next]) {
      const line = lineOf(item);
      if (item.kind !== 'bytes' || item.bytes.length === 0) this.#forget();
      if (line !== null) return line;
    }
    return null;
  }

  /** Drops waiting output and returns its number of lines; keeps the beginning of an unfinished line, whose end may follow. */
  drop(): number {
    let lines = 0;
    for (const item of this.#items.slice(this.#next)) lines += countDropped(item);
    this.#items = [];
    this.#next = 0;
    return lines;
  }

  /** Drops new output while nothing waits; only counts its lines. */
  skip({ step, attempt, stream, bytes }: LogChunk): number {
    return passOver(this.#stream(step, attempt, stream), bytes);
  }

  #forget(): void {
    this.#next += 1;
    if (!this.isEmpty) return;
    this.#items = [];
    this.#next = 0;
  }

  #stream(stepName: string, attempt: number, stream: LogStream): Stream {
    const key = streamKey(stepName, attempt, stream);
    const found = this.#streams.get(key) ?? { stepName, attempt, stream, begun: Buffer.alloc(0) };
    this.#streams.set(key, found);
    return found;
  }
}

function streamKey(step: string, attempt: number, stream: string): string {
  return `${attempt} ${stream} ${step}`;
}

function lineOf(item: Item): Line | null {
  switch (item.kind) {
    case 'line':
      return item.line;
    case 'end':
      return item.from.begun.length === 0 ? null : finish(item.from, item.at);
    case 'bytes':
      return cut(item);
  }
}

/** Cuts the bytes up to the next line end, or a piece of the maximum length. */
function cut(item: Extract<Item, { kind: 'bytes' }>): Line | null {
  const { from, at } = item;
  const end = item.bytes.indexOf(0x0a);
  const room = MAX_LINE_BYTES - from.begun.length;
  const length = Math.min(end === -1 ? item.bytes.length : end, room);
  const bytes = item.bytes.subarray(0, length);
  from.begun = from.begun.length === 0 ? bytes : Buffer.concat([from.begun, bytes]);
  item.bytes = item.bytes.subarray(length === end ? length + 1 : length);
  return length === end || from.begun.length === MAX_LINE_BYTES ? finish(from, at) : null;
}

function finish(from: Stream, at: number): Line {
  const line = from.begun.toString('utf8').replace(/\r$/, '');
  from.begun = Buffer.alloc(0);
  return { stepName: from.stepName, attempt: from.attempt, stream: from.stream, line, at };
}

function countDropped(item: Item): number {
  switch (item.kind) {
    case 'line':
      return 1;
    case 'end': {
      const isLine = item.from.begun.length > 0;
      item.from.begun = Buffer.alloc(0);
      return isLine ? 1 : 0;
    }
    case 'bytes':
      return passOver(item.from, item.bytes);
  }
}

/** Counts the line ends in the bytes and keeps the rest as the beginning of a line. */
function passOver(from: Stream, bytes: Uint8Array): number {
  let lines = 0;
  let start = 0;
  let length = from.begun.length;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0x0a && ++length < MAX_LINE_BYTES) continue;
    lines += 1;
    start = at + 1;
    length = 0;
  }
  if (start > 0) from.begun = Buffer.from(bytes.subarray(start));
  else if (bytes.length > 0) from.begun = Buffer.concat([from.begun, bytes]);
  return lines;
}
