import type { StoredEvent } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { eventJson } from '#render/views/json-views.ts';
import type { PastRun } from '#service/history/past-run.ts';
import { beat, comeBackLine, eventFrame, eventStreamHeaders } from '../../reply/event-stream.ts';
import { createStreamWriter, type StreamWriter } from '../../reply/stream-writer.ts';
import { readQuery } from '../../requests.ts';
import { type Handler, HttpError } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';
import { createOutputFrames, type OutputRequest, readOffsets } from './output-frames.ts';

/** `GET /api/v2/runs/{id}/events`. */
export function followEventsRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '' }, query, headers }) => {
    const { step, offsets, output: withOutput, follow, ...given } = readQuery('followEvents', query);
    const after = lastEvent(headers['last-event-id']) ?? given.after;
    const run = await namedRun(id, parts);
    const stored = run.stored?.events.length ?? 0;
    const wanted = withOutput ? { step, offsets: readOffsets(offsets) } : null;
    if (isFinished(run.state) && stored <= after) return { status: 204, body: null };
    return {
      status: 200,
      headers: eventStreamHeaders,
      stream: (output, signal) => {
        const writer = createStreamWriter(output, signal, parts.clock);
        return follow ? sendEvents({ run, after, wanted, writer, signal }, parts) : sendStored(run, after, writer);
      },
    };
  };
}

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
