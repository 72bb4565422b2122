import { setMaxListeners } from 'node:events';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import type { EngineAccess } from './connection.ts';

/** An event of the history of a workflow, with payloads as they are stored. */
export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type WorkflowService = temporal.api.workflowservice.v1.WorkflowService;

/** A connection that can read histories: that of a client or of a worker. */
export type Connected = {
  readonly workflowService: Pick<WorkflowService, 'getWorkflowExecutionHistory'>;
  readonly withDeadline: <T>(deadline: number, call: () => Promise<T>) => Promise<T>;
  readonly withAbortSignal: <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T>;
};

/** Events of one page: an answer above 4 MB is refused by the client. */
const PAGE_EVENTS = 500;
/** The server answers a long poll after a minute at the latest. */
const POLL_MS = 90_000;
const PAGE_MS = 10_000;

/** Which part of a history: the events after a number. `until`: also new ones as they come, until it is aborted. */
export type HistoryPart = { readonly after: number; readonly until: AbortSignal | null };

/**
 * Yields the events of an execution of a workflow in pages: those that exist, then with `until` new ones as they come, until
 * its end.
 * Rejects with the errors of the connection.
 */
export async function* readHistory(
  { connection, namespace }: Pick<EngineAccess<Connected>, 'connection' | 'namespace'>,
  execution: { readonly workflowId: string; readonly runId: string },
  { after, until }: HistoryPart,
): AsyncGenerator<readonly HistoryEvent[], void> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const request = {
      namespace,
      execution,
      maximumPageSize: PAGE_EVENTS,
      waitNewEvent: until !== null,
      nextPageToken,
    };
    const ask = () =>
      connection.withDeadline(Date.now() + (until === null ? PAGE_MS : POLL_MS), () =>
        connection.workflowService.getWorkflowExecutionHistory(request),
      );
    const page = await (until === null ? ask() : untilAborted(until, (own) => connection.withAbortSignal(own, ask)));
    nextPageToken = page.nextPageToken;
    const events = (page.history?.events ?? []).filter(({ eventId }) => Number(eventId) > after);
    if (events.length > 0) yield events;
  } while (nextPageToken.length > 0);
}

/** Makes a call with a signal of its own: the connection never forgets the signal of a call. */
async function untilAborted<T>(aborted: AbortSignal, call: (own: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const end = () => own.abort();
  // Each run that is followed waits with the same signal: that is no leak, of which Node would warn.
  setMaxListeners(0, aborted);
  if (aborted.aborted) end();
  aborted.addEventListener('abort', end, { once: true });
  try {
    return await call(own.signal);
  } finally {
    aborted.removeEventListener('abort', end);
  }
}

/** The first events of an execution of a workflow; without `runId`, of its last one. */
export async function firstEvents(
  { connection, namespace }: Pick<EngineAccess<Connected>, 'connection' | 'namespace'>,
  execution: { readonly workflowId: string; readonly runId?: string },
): Promise<readonly HistoryEvent[]> {
  const request = { namespace, execution, maximumPageSize: PAGE_EVENTS };
  const page = await connection.withDeadline(Date.now() + PAGE_MS, () =>
    connection.workflowService.getWorkflowExecutionHistory(request),
  );
  return page.history?.events ?? [];
}

/** A time of the engine, in ms since 1970; 0 without one. Rounded down, as workflow code gets it. */
export function timeOf(time: HistoryEvent['eventTime']): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}

type Payloads = { readonly payloads?: Payload[] | null } | null | undefined;

/** Reads the first value of payloads; undefined without any. */
export async function payloadValue(payloads: Payloads, codecs: readonly PayloadCodec[]): Promise<unknown> {
  const [first] = await payloadValues(payloads, codecs);
  return first;
}

/** Reads the values of payloads. */
export async function payloadValues(payloads: Payloads, codecs: readonly PayloadCodec[]): Promise<readonly unknown[]> {
  let coded = payloads?.payloads ?? [];
  for (const codec of [...codecs].reverse()) coded = await codec.decode(coded);
  return coded.map(({ data }) => (data ? JSON.parse(Buffer.from(data).toString()) : undefined));
}

/** A value as a payload. */
export function jsonPayload(value: unknown): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}
