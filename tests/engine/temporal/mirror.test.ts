import type { WorkflowHandle } from '@temporalio/client';
import { expect, it } from 'vitest';
import type { RunEvent } from '#core/run/run.ts';
import { Mirror, type MirrorParts } from '#engine/temporal/client/mirror.ts';
import type { HistoryEvent } from '#engine/temporal/history.ts';
import type { EngineEvents } from '#engine/temporal/protocol.ts';

/** An event of a history; times in ms. */
const event = (eventId: number, more: object = {}): HistoryEvent => ({ eventId: eventId as never, ...more });
const begun = (eventId: number, ms: number) =>
  event(eventId, {
    eventTime: { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 + 999_999 },
    workflowTaskStartedEventAttributes: {},
  });
const decided = (eventId: number) =>
  event(eventId, { workflowTaskCompletedEventAttributes: { startedEventId: eventId - 1 } });
const timedOut = (eventId: number) => event(eventId, { workflowTaskTimedOutEventAttributes: {} });

/** Answers about a run whose events have these times. */
const answer = (times: readonly number[], known: number, decidedAt: number): EngineEvents => ({
  events: times.map((at) => ({ type: 'run.warned', at, step: null, message: '' }) as unknown as RunEvent),
  after: 0,
  secrets: [],
  execution: 0,
  known,
  decidedAt,
});

/** A mirror of a run whose history has one page more at each look, with the answer of a worker after it. */
function mirrorOf(looks: readonly { readonly page: readonly HistoryEvent[]; readonly answer: EngineEvents }[]) {
  const recorded: number[] = [];
  let look = 0;
  const connection = {
    withDeadline: <T>(_: number, call: () => Promise<T>) => call(),
    workflowService: {
      getWorkflowExecutionHistory: async () => ({
        history: { events: looks.slice(0, look + 1).flatMap(({ page }) => page) },
        nextPageToken: new Uint8Array(),
      }),
    },
  };
  const query = async (_: string, after: number) => {
    const found = looks[look]?.answer as EngineEvents;
    return { ...found, after, events: found.events.slice(after) };
  };
  const mirror = new Mirror({
    access: { connection, namespace: 'default', dataConverter: {} } as unknown as MirrorParts['access'],
    handle: { workflowId: 'run', query } as unknown as WorkflowHandle,
    logs: undefined as never,
    record: (events) => recorded.push(...events.map(({ at }) => at)),
    recorded: () => recorded.length,
    undecided: () => {},
  });
  const next = async () => {
    await mirror.catchUp();
    look += 1;
    return [...recorded];
  };
  return { next };
}

const FIRST = [event(1, { workflowExecutionStartedEventAttributes: {} }), event(2), begun(3, 1000), decided(4)];

it('an answer about a decision that the engine has not stored is dropped', async () => {
  const { next } = mirrorOf([
    { page: FIRST, answer: answer([1000], 3, 1000) },
    // The worker that decided at 2000 was killed before the engine stored it; another one decides at 12,000.
    { page: [event(5), begun(6, 2000), timedOut(7)], answer: answer([1000, 2000], 6, 2000) },
    { page: [event(8), begun(9, 12_000), decided(10)], answer: answer([1000, 12_000], 9, 12_000) },
  ]);
  expect([await next(), await next(), await next()]).toEqual([[1000], [1000], [1000, 12_000]]);
});

it('nor is one recorded about an earlier try of a stored decision, whose number is the same', async () => {
  const { next } = mirrorOf([
    { page: [...FIRST, event(5), begun(6, 22_000), decided(7)], answer: answer([1000, 12_000], 6, 12_000) },
    { page: [event(8)], answer: answer([1000, 22_000], 6, 22_000) },
  ]);
  expect([await next(), await next()]).toEqual([[], [1000, 22_000]]);
});

it('an answer with nothing new changes nothing', async () => {
  const { next } = mirrorOf([
    { page: FIRST, answer: answer([1000], 3, 1000) },
    { page: [event(5), begun(6, 2000), decided(7)], answer: answer([1000], 3, 1000) },
    { page: [event(8), begun(9, 3000), decided(10)], answer: answer([1000, 3000], 9, 3000) },
  ]);
  expect([await next(), await next(), await next()]).toEqual([[1000], [1000], [1000, 3000]]);
});
