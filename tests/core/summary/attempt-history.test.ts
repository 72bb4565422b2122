import { expect, it } from 'vitest';
import type { RunEvent } from '#core/run/run.ts';
import { attemptHistory } from '#core/summary/attempt-history.ts';

const failed = { status: 'failed', reason: 'exit', message: 'exit 1', exitCode: 1, signal: null, outputs: {} } as const;

function stored(...events: readonly RunEvent[]) {
  return attemptHistory(events.map((event, index) => ({ ...event, seq: index + 1 })));
}

it('records for each attempt when it started, when and how it ended, and what the step waited for', () => {
  const history = stored(
    { type: 'step.scheduled', at: 10, step: 'a', attempt: 1 },
    { type: 'step.started', at: 11, step: 'a', attempt: 1, process: null },
    { type: 'step.waiting', at: 20, step: 'a', attempt: 1, why: 'retry', until: 50, outcome: failed },
    { type: 'step.ready', at: 50, step: 'a' },
    { type: 'step.scheduled', at: 51, step: 'a', attempt: 2 },
    { type: 'step.started', at: 52, step: 'a', attempt: 2, process: null, worker: 'gpu-1' },
  );

  expect([...history]).toEqual([
    [
      'a',
      [
        {
          step: 'a',
          attempt: 1,
          scheduledAt: 10,
          startedAt: 11,
          endedAt: 20,
          end: { status: 'failed', message: 'exit 1', exitCode: 1, signal: null },
          next: { why: 'retry', until: 50 },
        },
        {
          step: 'a',
          attempt: 2,
          scheduledAt: 51,
          startedAt: 52,
          worker: 'gpu-1',
          endedAt: null,
          end: null,
          next: null,
        },
      ],
    ],
  ]);
});

it('a step that is stopped while it waits keeps the end of its last attempt', () => {
  const history = stored(
    { type: 'step.scheduled', at: 10, step: 'a', attempt: 1 },
    { type: 'step.waiting', at: 20, step: 'a', attempt: 1, why: 'retry', until: 90, outcome: failed },
    { ...failed, type: 'step.finished', at: 60, step: 'a', attempt: 1, status: 'canceled', reason: null },
  );

  expect(history.get('a')?.map(({ endedAt, end }) => [endedAt, end?.status])).toEqual([[20, 'failed']]);
});

it('a step that was never scheduled has no attempts', () => {
  const event = { ...failed, type: 'step.finished', at: 60, step: 'a', attempt: 0, reason: null } as const;

  expect(stored({ ...event, status: 'upstream_failed' }).size).toBe(0);
});
