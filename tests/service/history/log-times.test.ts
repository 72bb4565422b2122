import { expect, test } from 'vitest';
import { createLogTimes, timedParts } from '#service/history/logs/log-view.ts';
import type { LogTime } from '#store/logs.ts';

const now = 9000;
const everything = Number.POSITIVE_INFINITY;

/** The times of a log of an attempt that began at 1000. */
function timesOf(noted: readonly LogTime[] | null, endedAt: number | null): Promise<readonly LogTime[]> {
  const started = { type: 'step.started', step: 'a', attempt: 1, at: 1000 };
  const finished = { type: 'step.finished', step: 'a', attempt: 1, at: endedAt };
  const events = endedAt === null ? [started] : [started, finished];
  const run = { stored: { events, logs: { times: async () => noted } } };
  return createLogTimes(run as never, () => now)({ step: 'a', attempt: 1 }, 'output');
}

test.each<[string, readonly LogTime[] | null, number | null, readonly LogTime[]]>([
  ['as noted', [[4, 1250]], 5000, [[4, 1250]]],
  ['of a quick attempt the time of its end', null, 1100, [[everything, 1100]]],
  ['of a long attempt without notes unknown', null, 5000, []],
  [
    'of what a running attempt has just printed the present',
    [[4, 1250]],
    null,
    [
      [4, 1250],
      [everything, now],
    ],
  ],
])('the times are %s', async (_, noted, endedAt, expected) => {
  expect(await timesOf(noted, endedAt)).toEqual(expected);
});

test.each<[string, number, readonly LogTime[] | null, readonly (readonly [string, number | null])[]]>([
  [
    'abcdef',
    0,
    [
      [2, 10],
      [4, 20],
    ],
    [
      ['ab', 10],
      ['cd', 20],
      ['ef', null],
    ],
  ],
  [
    'cdef',
    2,
    [
      [2, 10],
      [4, 20],
      [everything, 30],
    ],
    [
      ['cd', 20],
      ['ef', 30],
    ],
  ],
  ['ab', 7, [[2, 10]], [['ab', null]]],
  ['ab', 0, null, [['ab', null]]],
  ['', 0, [[2, 10]], []],
])('the bytes %j from %d on are split where the time changes', (text, offset, times, expected) => {
  const parts = [...timedParts(Buffer.from(text), offset, times)];
  expect(parts.map(({ bytes, at }) => [Buffer.from(bytes).toString(), at])).toEqual(expected);
});
