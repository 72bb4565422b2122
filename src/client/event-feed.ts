import type { StoredEvent } from '#core/run/run.ts';
import type { FeedItem } from '#service/service.ts';
import { answerBytes, type DaemonClient, Patience, segment } from './daemon-client.ts';
import { notUnderstood } from './problem-error.ts';
import { type KnownOutput, OutputLedger, readEvent, textLines } from './read-output.ts';

/** Returns the events of a run so far, without those that this version does not know. */
export async function storedEvents(client: DaemonClient, runId: string): Promise<readonly StoredEvent[]> {
  const feed = { path: `${pathOf(runId)}?follow=false`, lastId: '', signal: new AbortController().signal };
  const events: StoredEvent[] = [];
  for await (const { data } of openFeed(client, { ...feed, opened: () => {} })) {
    const event = readEvent(data);
    if (event !== null) events.push(event);
  }
  return events;
}

type Following = {
  readonly runId: string;
  /** The number of the last known event; 0: none. */
  readonly after: number;
  readonly signal: AbortSignal;
};

/** The output to follow, and the known bytes of running attempts. */
type OutputWanted = {
  /** Null: of all steps. */
  readonly step: string | null;
  readonly known: readonly KnownOutput[];
};

/**
 * Yields the events of a run, and on request the output of its steps, until the run has finished or the signal is
 * aborted. If the daemon does not answer, waits for it and continues after the last event and the last byte, so that
 * nothing is lost or repeated. Throws a `WfError` if the daemon does not answer for too long, or does not know the run.
 */
export async function* followRun(
  client: DaemonClient,
  { runId, after, signal }: Following,
  wanted: OutputWanted | null,
): AsyncGenerator<FeedItem, void> {
  const patience = new Patience(client);
  const known = new OutputLedger(wanted?.known ?? []);
  let lastId = String(after);
  while (!signal.aborted) {
    const path = `${pathOf(runId)}${wanted === null ? '' : `?${known.query(wanted.step)}`}`;
    try {
      const feed = { path, lastId, signal, opened: () => patience.refresh() };
      for await (const { id, type, data } of openFeed(client, feed)) {
        if (type === 'end') return;
        const item = type === 'output' ? known.take(data) : eventItem(data);
        lastId = id;
        if (item === null) continue;
        if (item.kind === 'event') known.note(item.event);
        yield item;
      }
      if (await isOver(client, runId, lastId, signal)) return;
      throw notUnderstood(client.settings, 'the events of the run ended early');
    } catch (error) {
      if (signal.aborted) return;
      await patience.wait(error, signal).catch((failure: unknown) => {
        if (!signal.aborted) throw failure;
      });
    }
  }
}

function eventItem(data: string): FeedItem | null {
  const event = readEvent(data);
  return event === null ? null : { kind: 'event', event };
}

type Feed = {
  readonly path: string;
  readonly lastId: string;
  readonly signal: AbortSignal;
  readonly opened: () => void;
};

/** Opens the feed; yields nothing if the run has finished and all of it is known. */
async function* openFeed(
  client: DaemonClient,
  { path, lastId, signal, opened }: Feed,
): AsyncGenerator<ServerEvent, void> {
  const since = lastId === '' ? {} : { 'Last-Event-ID': lastId };
  const incoming = await client.open(path, signal, { Accept: 'text/event-stream', ...since });
  if (incoming.statusCode === 204) return;
  if (!incoming.headers['content-type']?.startsWith('text/event-stream')) {
    incoming.destroy();
    throw notUnderstood(client.settings, 'it is not a stream of events');
  }
  opened();
  try {
    yield* serverEvents(answerBytes(incoming, client), lastId);
  } catch (error) {
    throw error instanceof RangeError ? notUnderstood(client.settings, error.message) : error;
  }
}

/** Whether the run has finished; a stream also ends when the daemon exits. */
async function isOver(client: DaemonClient, runId: string, lastId: string, signal: AbortSignal): Promise<boolean> {
  const incoming = await client.open(pathOf(runId), signal, { 'Last-Event-ID': lastId });
  incoming.destroy();
  return incoming.statusCode === 204;
}

function pathOf(runId: string): string {
  return `/runs/${segment(runId)}/events`;
}

/** One event of a stream, as defined by the HTML standard under "server-sent events". */
export type ServerEvent = {
  /** The last id of the stream; empty before the first. */
  readonly id: string;
  /** Default: `message`. */
  readonly type: string;
  readonly data: string;
};

const LONGEST_EVENT = 16 * 1024 * 1024;

/** Yields events, `lastId` being the id before; throws a `RangeError` for one that is too long. */
export async function* serverEvents(
  bytes: AsyncIterable<Uint8Array>,
  lastId: string,
): AsyncGenerator<ServerEvent, void> {
  let id = lastId;
  let type = '';
  let data: string[] = [];
  let length = 0;
  for await (const line of textLines(bytes, LONGEST_EVENT)) {
    length += line.length;
    if (length > LONGEST_EVENT) throw new RangeError('an event is too long');
    if (line === '') {
      if (data.length > 0) yield { id, type: type === '' ? 'message' : type, data: data.join('\n') };
      type = '';
      data = [];
      length = 0;
      continue;
    }
    const [name, value] = field(line);
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }
}

/** Splits a line into name and value; a comment has an empty name. */
function field(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)];
}
