import { expect, test } from 'vitest';
import { bytesOfPiece, continueMap, emptyMap, timeBefore } from '#page/log/line-map.ts';

test('responses of the index are merged, and the last piece ends with the log', () => {
  const first = continueMap(emptyMap, {
    size: 40_000,
    lines: 700,
    every: 512,
    deltas: [30_000],
    isGone: false,
    streams: ['output'] as const,
  });
  const grown = continueMap(first, {
    size: 90_000,
    lines: 600,
    every: 512,
    deltas: [25_000],
    isGone: false,
    streams: ['output'] as const,
  });

  expect(grown).toEqual({
    size: 90_000,
    lines: 1112,
    every: 512,
    starts: [0, 30_000, 55_000],
    isGone: false,
    streams: ['output'] as const,
    times: null,
  });
  expect([0, 1, 2, 3].map((piece) => bytesOfPiece(grown, piece))).toEqual([
    { from: 0, to: 30_000 },
    { from: 30_000, to: 55_000 },
    { from: 55_000, to: 90_000 },
    null,
  ]);
});

test('times of a response replace those after the position that it was asked for', () => {
  const part = { every: 2, isGone: false, streams: ['output'] as const };
  const times = [
    [6, 1000],
    [13, 2000],
    [16, 2500],
  ];
  const first = continueMap(emptyMap, { ...part, size: 16, lines: 5, deltas: [8], times });
  const grown = continueMap(first, {
    ...part,
    size: 20,
    lines: 4,
    deltas: [8],
    times: [
      [13, 2000],
      [20, 3000],
    ],
  });
  expect(grown.times).toEqual([
    [6, 1000],
    [13, 2000],
    [20, 3000],
  ]);
  expect([0, 3, 6, 7, 13, 14, 20, 21].map((end) => timeBefore(grown, end))).toEqual([
    1000,
    1000,
    1000,
    2000,
    2000,
    3000,
    3000,
    null,
  ]);
  expect(timeBefore(emptyMap, 3)).toBeNull();
  expect(continueMap(grown, { ...part, size: 20, lines: 0, deltas: [] }).times).toBeNull();
});

test('an empty log has no piece', () => {
  expect(
    bytesOfPiece(
      continueMap(emptyMap, { size: 0, lines: 0, every: 512, deltas: [], isGone: false, streams: ['output'] as const }),
      0,
    ),
  ).toBeNull();
});
