import type { StoredEvent } from '../../core/run/run.ts';
import { type DaemonClient, segment } from '../daemon-client.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { notUnderstood } from '../transport/connection-problem.ts';
import { createPatience } from '../transport/patience.ts';
import { createKnownOutput, type KnownOutput } from './known-output.ts';
import { type FeedItem, readEvent } from './read-output.ts';
import { type ServerEvent, serverEvents } from './server-events.ts';

/** What has happened to a run so far, without what this version does not know. */
export async function storedEvents(client: DaemonClient, runId: string): Promise<readonly StoredEvent[]> {
  const feed = { path: `${pathOf(runId)}?follow=false`, lastId: '', signal: new AbortController().signal };
  const events: StoredEvent[] = [];
  for await (const { data } of openFeed(client, { ...feed, opened: () => {} })) {
    const event = readEvent(data);
    if (event !== null) events.push(event);
  }
  return events;
}

/** Where to follow a run from. */
export type Following = {
  readonly runId: string;
  /** The place of the last event that is known; 0: none is. */
  readonly after: number;
  readonly signal: AbortSignal;
};

/** Which output is wanted, and how much is known of the attempts that are under way. */
export type OutputWanted = {
  /** Null: of all steps. */
  readonly step: string | null;
  readonly known: readonly KnownOutput[];
};

/**
 * What happens to a run, and what its steps print where that is wanted, until the run is over or the signal is aborted. A daemon
 * that is away is waited for: then it goes on behind the last event and the last byte that came, so that nothing is missing
 * and nothing comes twice. Throws a `WfError` when it is away for too long, or says that there is no such run.
 */
export async function* followRun(
  client: DaemonClient,
  { runId, after, signal }: Following,
  wanted: OutputWanted | null,
): AsyncGenerator<FeedItem, void> {
  const patience = createPatience(client);
  const known = createKnownOutput(wanted?.known ?? []);
  let lastId = String(after);
  while (!signal.aborted) {
    const path = `${pathOf(runId)}${wanted === null ? '' : `?${known.query(wanted.step)}`}`;
    try {
      for await (const { id, type, data } of openFeed(client, { path, lastId, signal, opened: patience.refresh })) {
        if (type === 'end') return;
        const item = type === 'output' ? known.take(data) : eventItem(data);
        lastId = id;
        if (item === null) continue;
        if (item.kind === 'event') known.note(item.event);
        yield item;
      }
      if (await isOver(client, { runId, lastId, signal })) return;
      throw notUnderstood(client.settings, 'the events of the run broke off');
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

/** Nothing at all where the run is over and all of it is known. */
async function* openFeed(
  client: DaemonClient,
  { path, lastId, signal, opened }: Feed,
): AsyncGenerator<ServerEvent, void> {
  const since = lastId === '' ? {} : { 'Last-Event-ID': lastId };
  const incoming = await client.open(path, signal, { Accept: 'text/event-stream', ...since });
  if (incoming.statusCode === 204) return;
  if (!incoming.headers['content-type']?.startsWith('text/event-stream')) {
    incoming.destroy();
    throw notUnderstood(client.settings, 'it is no stream of events');
  }
  opened();
  try {
    yield* serverEvents(answerBytes(incoming, client), lastId);
  } catch (error) {
    throw error instanceof RangeError ? notUnderstood(client.settings, error.message) : error;
  }
}

/** A stream may end because the daemon does. */
async function isOver(
  client: DaemonClient,
  { runId, lastId, signal }: { readonly runId: string; readonly lastId: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const incoming = await client.open(pathOf(runId), signal, { 'Last-Event-ID': lastId });
  incoming.destroy();
  return incoming.statusCode === 204;
}

function pathOf(runId: string): string {
  return `/runs/${segment(runId)}/events`;
}
