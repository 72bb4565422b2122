import { expect, test } from 'vitest';
import { bytesOfPiece, continueMap, emptyMap } from '../../../src/page/log/line-map.ts';

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
  });
  expect([0, 1, 2, 3].map((piece) => bytesOfPiece(grown, piece))).toEqual([
    { from: 0, to: 30_000 },
    { from: 30_000, to: 55_000 },
    { from: 55_000, to: 90_000 },
    null,
  ]);
});

test('an empty log has no piece', () => {
  expect(
    bytesOfPiece(
      continueMap(emptyMap, { size: 0, lines: 0, every: 512, deltas: [], isGone: false, streams: ['output'] as const }),
      0,
    ),
  ).toBeNull();
});
