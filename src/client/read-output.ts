import { given } from '#core/data/collections.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { FeedItem } from '#service/service.ts';
import { logStream } from '#store/log-ends.ts';
import type { LogChunk } from '#store/logs.ts';
import { isObject, numberIn, textIn } from './json-fields.ts';

/** Output of a step, with its offset in that stream of the attempt. */
type RemoteChunk = LogChunk & { readonly offset: number };

/** Parses output sent by a daemon; null if it is invalid. */
function readRemoteOutput(data: string): RemoteChunk | null {
  const output = parse(data);
  if (!isObject(output)) return null;
  const { step, stream, bytes } = {
    step: textIn(output, 'step'),
    stream: logStream(output['stream']),
    bytes: textIn(output, 'bytes'),
  };
  const { attempt, offset } = { attempt: numberIn(output, 'attempt'), offset: numberIn(output, 'offset') };
  if (step === null || stream === null || bytes === null || attempt === null || offset === null) return null;
  return { step, attempt, stream, offset, bytes: Buffer.from(bytes, 'base64') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The required fields of each event type. */
const needed: {
  readonly [type in StoredEvent['type']]: { readonly [field: string]: 'text' | 'number' | 'list' | 'object' };
} = {
  'run.created': { workflow: 'text', params: 'list' },
  'run.queued': { by: 'object' },
  'run.owned': { owner: 'object' },
  'run.prepared': { params: 'list' },
  'run.started': {},
  'step.restored': { step: 'text', status: 'text', outputs: 'object' },
  'step.scheduled': { step: 'text', attempt: 'number' },
  'step.started': { step: 'text', attempt: 'number' },
  'step.contained': { step: 'text', attempt: 'number', container: 'object' },
  'step.serving': { step: 'text', attempt: 'number' },
  'step.ending': { step: 'text', attempt: 'number' },
  'step.expanded': { step: 'text', attempt: 'number', items: 'list' },
  'step.canceling': { step: 'text', message: 'text' },
  'step.waiting': { step: 'text', attempt: 'number', until: 'number', outcome: 'object' },
  'step.ready': { step: 'text' },
  'step.held': { step: 'text', attempt: 'number', message: 'text', outputs: 'object', prompt: 'text' },
  'step.answered': { step: 'text', answer: 'text', comment: 'text', inputs: 'object' },
  'step.finished': { step: 'text', attempt: 'number', status: 'text', message: 'text', outputs: 'object' },
  'step.marked': { step: 'text', status: 'text', run: 'object' },
  'run.delayed': { until: 'number' },
  'run.canceling': { message: 'text' },
  'run.handling': { status: 'text', handlers: 'list' },
  'run.warned': { message: 'text' },
  'run.finished': { status: 'text', message: 'text' },
};

/** Parses an event sent by a daemon; null if it is unknown to this version or invalid. */
export function readEvent(data: string): StoredEvent | null {
  const event = parse(data);
  if (!isObject(event)) return null;
  const type = textIn(event, 'type') ?? '';
  const until = typeof event['until'] === 'string' ? { until: Date.parse(textIn(event, 'until') ?? '') } : {};
  const read = { ...event, ...until, at: Date.parse(textIn(event, 'at') ?? '') };
  const isWhole = Number.isFinite(read.at) && numberIn(event, 'seq') !== null && hasFields(read, type);
  return isWhole ? (read as unknown as StoredEvent) : null;
}

function hasFields(event: { readonly [field: string]: unknown }, type: string): boolean {
  if (!Object.hasOwn(needed, type)) return false;
  return Object.entries(needed[type as StoredEvent['type']]).every(([field, kind]) => isOf(event[field], kind));
}

function isOf(value: unknown, kind: 'text' | 'number' | 'list' | 'object'): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
  }
}

/** The number of known bytes of a running attempt's logs; `stdout` is also that of the only one. */
export type KnownOutput = {
  readonly step: string;
  readonly attempt: number;
  readonly stdout: number;
  readonly stderr: number;
};

/** The received output of a run. */
type OutputLedger = {
  /** Returns the new part of a chunk; null if all of it was received before. */
  readonly take: (data: string) => FeedItem | null;
  /** Notes the begin and end of attempts. */
  readonly note: (event: StoredEvent) => void;
  /** Returns the query that requests the missing output. */
  readonly query: (step: string | null) => URLSearchParams;
};

/** Limits the request line. Output of positions beyond the limit is sent again and skipped. */
const mostToldBytes = 4096;

type Counted = { readonly step: string; readonly attempt: number; stdout: number; stderr: number };

/** Creates a ledger that counts bytes, so that output repeated after a reconnect is recognized. */
export function createKnownOutput(known: readonly KnownOutput[]): OutputLedger {
  const underWay = new Map<string, Counted>(known.map((each) => [each.step, { ...each }]));
  return {
    take: (data) => {
      const chunk = readRemoteOutput(data);
      const counted = chunk === null ? undefined : underWay.get(chunk.step);
      if (chunk === null || counted === undefined || counted.attempt !== chunk.attempt) return null;
      const log = chunk.stream === 'stderr' ? 'stderr' : 'stdout';
      const fresh = chunk.bytes.subarray(Math.max(0, counted[log] - chunk.offset));
      if (fresh.length === 0) return null;
      const offset = chunk.offset + chunk.bytes.length - fresh.length;
      counted[log] = offset + fresh.length;
      return { kind: 'output', chunk: { ...chunk, offset, bytes: fresh } };
    },
    note: (event) => {
      if (event.type === 'step.started') {
        const { step, attempt } = event;
        // A damaged journal may repeat an event.
        if (underWay.get(step)?.attempt !== attempt) underWay.set(step, { step, attempt, stdout: 0, stderr: 0 });
      } else if (endsAttempt(event)) underWay.delete(event.step);
    },
    query: (step) => new URLSearchParams({ output: 'true', ...given({ step }), offsets: offsetsOf(underWay) }),
  };
}

/** Lists the known positions, the largest first. */
function offsetsOf(underWay: ReadonlyMap<string, Counted>): string {
  const entries = [...underWay.values()].filter(({ stdout, stderr }) => stdout + stderr > 0);
  entries.sort((a, b) => b.stdout + b.stderr - a.stdout - a.stderr);
  let length = 0;
  const fitting = entries.filter(({ step }) => {
    length += Buffer.byteLength(step) + 50;
    return length <= mostToldBytes;
  });
  return JSON.stringify(fitting.map(({ step, attempt, stdout, stderr }) => [step, attempt, stdout, stderr]));
}

/**
 * Yields the lines of UTF-8 text without their ends, which are CR LF, LF or CR; text after the last line end is dropped.
 * Throws a `RangeError` for a line of more than `longest` characters.
 */
export async function* textLines(bytes: AsyncIterable<Uint8Array>, longest: number): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  let endedWithReturn = false;
  for await (const chunk of bytes) {
    let text = decoder.decode(chunk, { stream: true });
    if (endedWithReturn && text.startsWith('\n')) text = text.slice(1);
    if (text === '') continue;
    endedWithReturn = text.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    parts.push(first);
    length += first.length;
    if (length > longest) throw new RangeError('a line is too long');
    for (const next of others) {
      yield parts.join('');
      parts = [next];
      length = next.length;
    }
  }
}
