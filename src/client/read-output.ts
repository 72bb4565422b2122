import { given } from '#core/data/collections.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { FeedItem } from '#service/service.ts';
import { logStream } from '#store/log-ends.ts';
import { isObject, type JsonMap, numberIn, objectIn, parseMap, textIn } from './json-fields.ts';

/** Parses output sent by a daemon, with its offset in that stream of the attempt; null if it is invalid. */
function readRemoteOutput(data: string) {
  const output = parseMap(data) ?? {};
  const [step, stream, bytes] = [textIn(output, 'step'), logStream(output['stream']), textIn(output, 'bytes')];
  const [attempt, offset] = [numberIn(output, 'attempt'), numberIn(output, 'offset')];
  if (step === null || stream === null || bytes === null || attempt === null || offset === null) return null;
  return { step, attempt, stream, offset, bytes: Buffer.from(bytes, 'base64') };
}

/** The required fields of each event type. */
const needed: {
  readonly [type in StoredEvent['type']]: { readonly [field: string]: keyof typeof kinds };
} = {
  'run.created': { workflow: 'text', params: 'list' },
  'run.queued': { by: 'object' },
  'run.owned': { owner: 'object' },
  'run.prepared': { params: 'list' },
  'run.blocked': { why: 'text', name: 'text' },
  'run.started': {},
  'run.late': {},
  'step.late': { step: 'text' },
  'step.restored': { step: 'text', status: 'text', outputs: 'object' },
  'step.scheduled': { step: 'text', attempt: 'number' },
  'step.blocked': { step: 'text', attempt: 'number', why: 'text', name: 'text' },
  'step.acquired': { step: 'text', attempt: 'number' },
  'step.outdated': { step: 'text', attempt: 'number', reason: 'list' },
  'step.started': { step: 'text', attempt: 'number' },
  'artifact.kept': { step: 'text', attempt: 'number', path: 'text', bytes: 'number', sha256: 'text' },
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
  const event = parseMap(data) ?? {};
  const type = textIn(event, 'type') ?? '';
  const at = Date.parse(textIn(event, 'at') ?? '');
  const holder = objectIn(event, 'holder');
  const times = Object.fromEntries(
    ['until', 'scheduledFor', 'previousFor', 'startBy', 'lateBy'].flatMap((name) => {
      const text = textIn(event, name);
      return text === null ? [] : [[name, Date.parse(text)] as const];
    }),
  );
  const since = holder && { ...holder, since: Date.parse(textIn(holder, 'since') ?? '') };
  const read: JsonMap = {
    ...event,
    ...times,
    ...given({ holder: since }),
    at,
  };
  const isWhole = Number.isFinite(at) && numberIn(event, 'seq') !== null && hasFields(read, type);
  return isWhole ? (read as unknown as StoredEvent) : null;
}

function hasFields(event: JsonMap, type: string): boolean {
  if (!Object.hasOwn(needed, type)) return false;
  return Object.entries(needed[type as StoredEvent['type']]).every(([field, kind]) => kinds[kind](event[field]));
}

const kinds = {
  text: (value: unknown) => typeof value === 'string',
  number: Number.isFinite,
  list: Array.isArray,
  object: isObject,
} as const;

/** The number of known bytes of a running attempt's logs; `stdout` is also that of the only one. */
export type KnownOutput = {
  readonly step: string;
  readonly attempt: number;
  readonly stdout: number;
  readonly stderr: number;
};

/** Limits the request line. Output of positions beyond the limit is sent again and skipped. */
const MOST_TOLD_BYTES = 4096;

type Counted = { readonly step: string; readonly attempt: number; stdout: number; stderr: number };

/** The received output of a run: counts bytes, so that output repeated after a reconnect is recognized. */
export class OutputLedger {
  readonly #underWay: Map<string, Counted>;

  constructor(known: readonly KnownOutput[]) {
    this.#underWay = new Map(known.map((each) => [each.step, { ...each }]));
  }

  /** Returns the new part of a chunk; null if all of it was received before. */
  take(data: string): FeedItem | null {
    const chunk = readRemoteOutput(data);
    const counted = chunk === null ? undefined : this.#underWay.get(chunk.step);
    if (chunk === null || counted === undefined || counted.attempt !== chunk.attempt) return null;
    const log = chunk.stream === 'stderr' ? 'stderr' : 'stdout';
    const fresh = chunk.bytes.subarray(Math.max(0, counted[log] - chunk.offset));
    if (fresh.length === 0) return null;
    counted[log] = chunk.offset + chunk.bytes.length;
    const { step, attempt, stream } = chunk;
    return { kind: 'output', chunk: { step, attempt, stream, bytes: fresh } };
  }

  /** Notes the begin and end of attempts. */
  note(event: StoredEvent): void {
    if (event.type === 'step.started') {
      const { step, attempt } = event;
      // A damaged journal may repeat an event.
      if (this.#underWay.get(step)?.attempt === attempt) return;
      this.#underWay.set(step, { step, attempt, stdout: 0, stderr: 0 });
    } else if (endsAttempt(event)) this.#underWay.delete(event.step);
  }

  /** Returns the query that requests the missing output. */
  query(step: string | null): URLSearchParams {
    return new URLSearchParams({ output: 'true', ...given({ step }), offsets: offsetsOf(this.#underWay) });
  }
}

/** Lists the known positions, the largest first. */
function offsetsOf(underWay: ReadonlyMap<string, Counted>): string {
  const entries = [...underWay.values()].filter(({ stdout, stderr }) => stdout + stderr > 0);
  entries.sort((a, b) => b.stdout + b.stderr - a.stdout - a.stderr);
  let length = 0;
  const fitting = entries.filter(({ step }) => {
    length += Buffer.byteLength(step) + 50;
    return length <= MOST_TOLD_BYTES;
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
