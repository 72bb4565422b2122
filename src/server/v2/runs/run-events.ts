import { isNamed } from '#core/fan-out/instance-name.ts';
import { attemptKey, endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { eventJson } from '#render/data-views.ts';
import type { PastRun } from '#service/history.ts';
import type { AttemptReference } from '#service/logs.ts';
import type { LogChunk, LogOffsets, LogPace } from '#store/logs.ts';
import { tryOr } from '#system/errors.ts';
import { ownTurn } from '#system/turns.ts';
import {
  beat,
  comeBackLine,
  eventFrame,
  eventStreamHeaders,
  type StreamWriter,
  streamReply,
} from '../../reply/event-stream.ts';
import { HttpError, noContent, readQuery } from '../../route.ts';
import { namedRun, type V2Handler, type V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/runs/{id}/events`. */
export const followEvents: V2Handler = async ({ params: { id = '' }, query, headers }, parts) => {
  const { step, offsets, output: withOutput, follow, ...given } = readQuery('followEvents', query);
  const after = lastEvent(headers['last-event-id']) ?? given.after;
  const run = await namedRun(id, parts);
  const stored = run.stored?.events.length ?? 0;
  const wanted = withOutput ? { step, offsets: readOffsets(offsets) } : null;
  if (isFinished(run.state) && stored <= after) return noContent();
  return streamReply(eventStreamHeaders, parts, (writer, signal) =>
    follow ? sendEvents({ run, after, wanted, writer, signal }, parts) : sendStored(run, after, writer),
  );
};

function lastEvent(lastEventId: string | string[] | undefined): number | null {
  if (typeof lastEventId !== 'string' || lastEventId === '') return null;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new HttpError(400, 'unknown "Last-Event-ID"');
}

async function sendStored({ runId: id, stored }: PastRun, after: number, writer: StreamWriter): Promise<void> {
  for (const event of stored?.events.slice(after) ?? []) {
    writer.write(frame(id, event));
    if (writer.isBehind()) await writer.caughtUp();
  }
}

type Following = {
  readonly run: PastRun;
  readonly after: number;
  readonly wanted: OutputRequest | null;
  readonly writer: StreamWriter;
  readonly signal: AbortSignal;
};

async function sendEvents({ run, after, wanted, writer, signal }: Following, { feeds, clock }: V2Parts): Promise<void> {
  const stop = beat(writer, clock);
  const output = wanted && createOutputFrames(run, { after, wanted, writer });
  try {
    writer.write(comeBackLine);
    for await (const events of feeds.follow(run, after, signal)) {
      for (const event of events) {
        if (writer.isBehind()) await writer.caughtUp();
        await output?.before(event);
        if (writer.isClosed()) return;
        writer.write(frame(run.runId, event));
        output?.after(event);
      }
    }
    if (!writer.isClosed()) writer.write(eventFrame({ event: 'end', data: JSON.stringify({ runId: run.runId }) }));
  } finally {
    output?.close();
    stop();
  }
}

/** The serialized events, shared by all followers of a run. */
const frames = new WeakMap<StoredEvent, string>();

function frame(id: string, event: StoredEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const data = JSON.stringify(eventJson(id, event));
  const text = eventFrame({ id: String(event.seq), event: event.type, data });
  frames.set(event, text);
  return text;
}

/** Reading, encoding and sending this takes a few milliseconds; there may be many readers. */
const pace: LogPace = { bytes: 128 * 1024, turn: ownTurn };

/** The requested output of steps within a stream of events, and the offsets at which it continues. */
export type OutputRequest = {
  /** Null: of all steps. */
  readonly step: string | null;
  /** The known bytes of running attempts, by `attemptKey`. */
  readonly offsets: ReadonlyMap<string, LogOffsets>;
};

/** Sends the output of attempts between events; attempts that run after the first `after` events continue at their offsets. */
export function createOutputFrames(
  run: PastRun,
  { after, wanted, writer }: { after: number; wanted: OutputRequest; writer: StreamWriter },
) {
  const sent = new Map<string, number>();
  const deliver = (chunk: LogChunk) => writer.write(outputFrame(chunk, sent));
  const follower = run.stored?.logs.follow({ deliver, isBlocked: writer.isBehind, pace });
  const follow = (step: string, attempt: number, offsets: LogOffsets) => {
    if (!isNamed(run.state, wanted.step)(step)) return;
    for (const stream of ['output', 'stdout']) sent.set(`${stream} ${attemptKey({ step, attempt })}`, offsets.stdout);
    sent.set(`stderr ${attemptKey({ step, attempt })}`, offsets.stderr);
    follower?.follow(step, attempt, offsets);
  };
  for (const { step, attempt } of underWay(run.stored?.events.slice(0, after) ?? [])) {
    follow(step, attempt, wanted.offsets.get(attemptKey({ step, attempt })) ?? { stdout: 0, stderr: 0 });
  }
  return {
    /** To be called before sending an event: resolves when all output before the event is sent. */
    before: async (event: StoredEvent) => {
      if (!endsAttempt(event)) return;
      while (follower?.finish(event.step, event.attempt) === false && !writer.isClosed()) {
        await ownTurn();
        await writer.caughtUp();
      }
    },
    after: (event: StoredEvent) => {
      if (event.type === 'step.started') follow(event.step, event.attempt, { stdout: 0, stderr: 0 });
    },
    close: () => follower?.close(),
  };
}

/** Reads `[["load", 1, 4096, 0]]`: step, attempt, bytes of both streams. Throws an `HttpError` 400 for another value. */
export function readOffsets(text: string | null): OutputRequest['offsets'] {
  if (text === null) return new Map();
  const entries: unknown = tryOr(null, () => JSON.parse(text));
  if (Array.isArray(entries) && entries.every(isEntry)) {
    return new Map(
      entries.map(([step, attempt, stdout, stderr]) => [attemptKey({ step, attempt }), { stdout, stderr }]),
    );
  }
  throw new HttpError(400, '"offsets" must be a list of [step, attempt, bytes of stdout, bytes of stderr], in JSON');
}

type Entry = readonly [step: string, attempt: number, stdout: number, stderr: number];

function isEntry(entry: unknown): entry is Entry {
  if (!Array.isArray(entry) || entry.length !== 4) return false;
  const [step, ...numbers] = entry;
  return typeof step === 'string' && numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
}

function underWay(events: readonly StoredEvent[]): Iterable<AttemptReference> {
  const active = new Map<string, AttemptReference>();
  for (const event of events) {
    if (event.type === 'step.started') active.set(event.step, event);
    else if (endsAttempt(event)) active.delete(event.step);
  }
  return active.values();
}

function outputFrame({ step, attempt, stream, bytes }: LogChunk, sent: Map<string, number>): string {
  const key = `${stream} ${attemptKey({ step, attempt })}`;
  const offset = sent.get(key) ?? 0;
  sent.set(key, offset + bytes.length);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return `event: output\ndata: ${JSON.stringify({ step, attempt, stream, offset, bytes: text })}\n\n`;
}
