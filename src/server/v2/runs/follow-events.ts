import type { StoredEvent } from '../../../core/run/run.ts';
import { isFinished } from '../../../core/run/run-state.ts';
import { eventJson } from '../../../render/views/event-json.ts';
import type { PastRun } from '../../../service/history/past-run.ts';
import { type DescribedRoute, type Operation, ref } from '../../docs/operation.ts';
import { beat, comeBackLine, eventFrame, eventStreamHeaders } from '../../reply/event-stream.ts';
import { HttpError } from '../../reply/http-error.ts';
import { createStreamWriter, type StreamWriter } from '../../reply/stream-writer.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { exampleStream } from '../examples.ts';
import { runId } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { flagIn, numberIn } from '../query.ts';
import { findRun } from './find-run.ts';
import { createOutputFrames, type OutputRequest, readOffsets } from './output-frames.ts';

/** OpenAPI 3.1 cannot describe the items of a stream; programs ignore the unknown key. */
const eventStream = { type: 'string', 'x-event-data': ref('Event') };

const operation: Operation = {
  id: 'followEvents',
  tag: 'Logs and events',
  summary: 'Streams the events of a run',
  description: `Server-sent events: first the stored events, then new ones. The \`id\` of each is its position in the journal, \`event\` its type, \`data\` the same JSON that \`wf run --reporter json\` prints. A comment follows every 15 seconds. When the run has ended, an event \`end\` follows the last one, and the stream ends; a request after that position is answered with 204, at which an \`EventSource\` stops. If an \`id\` is not higher than the previous one, the journal was damaged there: the following events replace everything from that position on.`,
  parameters: [
    runId,
    {
      name: 'after',
      in: 'query',
      description: 'Only events after that `id`.',
      schema: { type: 'integer', minimum: 0, default: 0 },
    },
    {
      name: 'follow',
      in: 'query',
      description: 'False: only the events so far, without an event `end`.',
      schema: { type: 'boolean', default: true },
    },
    {
      name: 'output',
      in: 'query',
      description:
        'True: events `output` without `id` contain the output of the steps, complete before the end of each attempt: `{step, attempt, stream, offset, bytes}`, with `bytes` in base64 and `offset` as their position in that stream.',
      schema: { type: 'boolean', default: false },
    },
    {
      name: 'step',
      in: 'query',
      description: 'With `output`: only of this step or handler.',
      schema: { type: 'string' },
    },
    {
      name: 'offsets',
      in: 'query',
      description:
        'With `output`, for who comes back: `[["load", 1, 4096, 0]]`, the bytes of both streams that are known of attempts under way. Without it these begin at their start.',
      schema: { type: 'string' },
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'The same, as an `EventSource` says it when it comes back; it goes before `after`.',
      schema: { type: 'string' },
    },
  ],
  answers: {
    200: {
      description: 'The events.',
      content: { 'text/event-stream': { schema: eventStream, example: exampleStream } },
    },
    204: { description: 'The run has finished, and there is no further event.' },
  },
  problems: { 404: 'Unknown run.' },
};

/** `GET /api/v2/runs/{id}/events`. */
export function followEventsRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/runs/{id}/events',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: followEvents(parts),
    operation,
  };
}

function followEvents(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { id = '' }, query, headers }) => {
    const after = afterIn(query, headers['last-event-id']);
    const run = await findRun(id, parts);
    const stored = run.stored?.events.length ?? 0;
    const follow = !query.has('follow') || flagIn(query, 'follow');
    const wanted = flagIn(query, 'output')
      ? { step: query.get('step') || null, offsets: readOffsets(query.get('offsets')) }
      : null;
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

function afterIn(query: URLSearchParams, lastEventId: string | string[] | undefined): number {
  if (typeof lastEventId !== 'string' || lastEventId === '') return numberIn(query, 'after', 0);
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

async function sendEvents(
  { run, after, wanted, writer, signal }: Following,
  { feeds, clock, logFiles: files }: V2Parts,
): Promise<void> {
  const stop = beat(writer, clock);
  const output = wanted && createOutputFrames(run, { after, wanted, writer, files });
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
