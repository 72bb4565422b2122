import { isNamed } from '#core/fan-out/instance-name.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { PastRun } from '#service/history/past-run.ts';
import type { LogChunk, LogOffsets, LogPace } from '#store/logs.ts';
import { ownTurn } from '#system/turns.ts';
import type { StreamWriter } from '../../reply/stream-writer.ts';
import { HttpError } from '../../route.ts';

/** Reading, encoding and sending this takes a few milliseconds; there may be many readers. */
const pace: LogPace = { bytes: 128 * 1024, turn: ownTurn };

/** The requested output of steps within a stream of events, and the offsets at which it continues. */
export type OutputRequest = {
  /** Null: of all steps. */
  readonly step: string | null;
  /** The known bytes of running attempts, by `attemptKey`. */
  readonly offsets: ReadonlyMap<string, LogOffsets>;
};

/** Sends the output of attempts between the events. */
export type OutputFrames = {
  /** Call it before sending an event: resolves when all output before the event is sent. */
  readonly before: (event: StoredEvent) => Promise<void>;
  /** Call it after sending an event. */
  readonly after: (event: StoredEvent) => void;
  readonly close: () => void;
};

/** Creates the sender of output; attempts that run after the first `after` events continue at their offsets. */
export function createOutputFrames(
  run: PastRun,
  { after, wanted, writer }: { after: number; wanted: OutputRequest; writer: StreamWriter },
): OutputFrames {
  const sent = new Map<string, number>();
  const deliver = (chunk: LogChunk) => writer.write(frame(chunk, sent));
  const follower = run.stored?.logs.follow({ deliver, isBlocked: writer.isBehind, pace });
  const follow = (step: string, attempt: number, offsets: LogOffsets) => {
    if (!isNamed(run.state, wanted.step)(step)) return;
    for (const stream of ['output', 'stdout']) sent.set(`${stream} ${attemptKey(step, attempt)}`, offsets.stdout);
    sent.set(`stderr ${attemptKey(step, attempt)}`, offsets.stderr);
    follower?.follow(step, attempt, offsets);
  };
  for (const { step, attempt } of underWay(run.stored?.events.slice(0, after) ?? [])) {
    follow(step, attempt, wanted.offsets.get(attemptKey(step, attempt)) ?? { stdout: 0, stderr: 0 });
  }
  return {
    before: async (event) => {
      if (!endsAttempt(event)) return;
      while (follower?.finish(event.step, event.attempt) === false && !writer.isClosed()) {
        await ownTurn();
        await writer.caughtUp();
      }
    },
    after: (event) => {
      if (event.type === 'step.started') follow(event.step, event.attempt, { stdout: 0, stderr: 0 });
    },
    close: () => follower?.close(),
  };
}

/** Reads `[["load", 1, 4096, 0]]`: step, attempt, bytes of both streams. Throws an `HttpError` 400 for another value. */
export function readOffsets(text: string | null): OutputRequest['offsets'] {
  if (text === null) return new Map();
  const entries = parse(text);
  if (Array.isArray(entries) && entries.every(isEntry)) {
    return new Map(entries.map(([step, attempt, stdout, stderr]) => [attemptKey(step, attempt), { stdout, stderr }]));
  }
  throw new HttpError(400, '"offsets" must be a list of [step, attempt, bytes of stdout, bytes of stderr], in JSON');
}

function attemptKey(step: string, attempt: number): string {
  return `${attempt} ${step}`;
}

type Entry = readonly [step: string, attempt: number, stdout: number, stderr: number];

function isEntry(entry: unknown): entry is Entry {
  if (!Array.isArray(entry) || entry.length !== 4) return false;
  const [step, ...numbers] = entry;
  return typeof step === 'string' && numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function underWay(events: readonly StoredEvent[]): Iterable<{ readonly step: string; readonly attempt: number }> {
  const active = new Map<string, { readonly step: string; readonly attempt: number }>();
  for (const event of events) {
    if (event.type === 'step.started') active.set(event.step, event);
    else if (endsAttempt(event)) active.delete(event.step);
  }
  return active.values();
}

function frame({ step, attempt, stream, bytes }: LogChunk, sent: Map<string, number>): string {
  const key = `${stream} ${attemptKey(step, attempt)}`;
  const offset = sent.get(key) ?? 0;
  sent.set(key, offset + bytes.length);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return `event: output\ndata: ${JSON.stringify({ step, attempt, stream, offset, bytes: text })}\n\n`;
}
