import type { PastRun } from '../../../service/history/past-run.ts';
import { beat, comeBackLine, eventFrame, eventStreamHeaders } from '../../reply/event-stream.ts';
import { createStreamWriter, type StreamWriter } from '../../reply/stream-writer.ts';
import { readQuery } from '../../requests.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { namedRun } from '../runs/named-run.ts';
import type { V2Parts } from '../v2-parts.ts';
import { type LiveCursor, liveCursorText, readLiveCursor } from './live-cursor.ts';
import { createLiveFrames, type LiveFrames } from './live-frames.ts';
import { createPacedWakeups } from './paced-wakeups.ts';
import { followRunPart, type RunPart } from './run-part.ts';

/** A reader is sent changes at most this often; what changes in between is sent once. */
const pauseMs = 100;

/** `GET /api/v2/events`. */
export function followAll(parts: V2Parts): Handler {
  const frames = createLiveFrames(parts);
  return async ({ query, headers, access }: ApiRequest): Promise<Reply> => {
    const { run: word, after, follow: isEndless } = readQuery('followAll', query);
    const run = word === null ? null : await namedRun(word, parts);
    const given = String(headers['last-event-id'] ?? '') || after;
    return {
      status: 200,
      headers: eventStreamHeaders,
      stream: async (output, signal) => {
        const writer = createStreamWriter(output, signal, parts.clock);
        await sendLive({ run, given, isEndless, access, writer, signal }, frames, parts);
      },
    };
  };
}

type Reading = {
  readonly run: PastRun | null;
  /** The cursor of a client that comes back; null for a new one. */
  readonly given: string | null;
  readonly isEndless: boolean;
  readonly access: ApiRequest['access'];
  readonly writer: StreamWriter;
  readonly signal: AbortSignal;
};

async function sendLive(reading: Reading, frames: LiveFrames, parts: V2Parts): Promise<void> {
  const { run, given, isEndless, writer, signal } = reading;
  const { changes, clock } = parts;
  const cursor = given === null ? null : readLiveCursor(given, changes);
  const wakeups = createPacedWakeups(signal, clock, pauseMs);
  const stop = beat(writer, clock);
  const part = run && followRunPart({ run, after: runAfter(cursor, run), signal, wake: wakeups.wake }, parts);
  const leave = await changes.join(wakeups.wake, part);
  try {
    writer.write(comeBackLine);
    const isUnknown = given !== null && (cursor === null || changes.since(cursor.position) === null);
    let position = cursor === null || isUnknown ? changes.position() : cursor.position;
    if (isUnknown) writer.write(resetFrame(cursorOf(position, part, changes), cursor === null ? 'unknown' : 'too-old'));
    writer.write(frames({ kind: 'daemon' }, reading.access, cursorOf(position, part, changes)));
    while (!writer.isClosed()) {
      position = await sendChanges(position, part, { ...reading, frames }, parts);
      if (!isEndless) return;
      await wakeups.next();
    }
  } finally {
    part?.close();
    leave();
    stop();
  }
}

/** Without a position in the journal of this run, a client that comes back gets every step. */
function runAfter(cursor: LiveCursor | null, { stored }: PastRun): number | null {
  if (cursor === null) return null;
  const last = stored?.events.at(-1)?.seq ?? 0;
  return cursor.run === null || cursor.run > last ? 0 : cursor.run;
}

/** Answers the position up to which all is sent. */
async function sendChanges(
  from: number,
  part: RunPart | null,
  { writer, access, frames }: Reading & { readonly frames: LiveFrames },
  { changes, runIndex }: V2Parts,
): Promise<number> {
  const missed = changes.since(from);
  let position = from;
  if (missed === null) {
    position = changes.position();
    writer.write(resetFrame(cursorOf(position, part, changes), 'too-old'));
  }
  for (const { position: own, change } of missed ?? []) {
    if (writer.isBehind()) await writer.caughtUp();
    if (writer.isClosed()) return position;
    if (change.kind === 'workflow') await runIndex.recent.read([change.file]);
    position = own;
    writer.write(frames(change, access, cursorOf(position, part, changes)));
  }
  const before = part?.position();
  for (const frame of part?.take() ?? []) {
    if (writer.isBehind()) await writer.caughtUp();
    if (writer.isClosed()) return position;
    writer.write(frame);
  }
  // Without data it is no event, but the client keeps the cursor.
  if (part?.position() !== before) writer.write(`id: ${cursorOf(position, part, changes)}\n\n`);
  return position;
}

function cursorOf(position: number, part: RunPart | null, changes: V2Parts['changes']): string {
  return liveCursorText(changes, { position, run: part?.position() ?? null });
}

function resetFrame(id: string, why: 'unknown' | 'too-old'): string {
  return eventFrame({ id, event: 'reset', data: JSON.stringify({ why }) });
}
