import { expect, test } from 'vitest';
import type { RunStatus } from '#core/run/run.ts';
import { usualDurationMs } from '#core/summary/summarize.ts';

const ran = (status: RunStatus, durationMs: number | null) => ({ status, durationMs });

test.each([
  ['no run', [], null],
  ['no success', [ran('failed', 5), ran('running', null), ran('skipped', 1)], null],
  ['one success', [ran('succeeded', 5)], 5],
  ['an even number of successes', [ran('succeeded', 5), ran('failed', 1000), ran('succeeded', 10)], 8],
  ['an outlier', [ran('succeeded', 5), ran('succeeded', 90_000), ran('succeeded', 7)], 7],
  ['a success of unknown duration', [ran('succeeded', null), ran('succeeded', 7)], 7],
])('the usual duration after %s', (_, runs, usual) => {
  expect(usualDurationMs(runs)).toBe(usual);
});

test('only the last ten successes count', () => {
  const last = Array.from({ length: 10 }, () => ran('succeeded', 10));
  const earlier = Array.from({ length: 30 }, () => ran('succeeded', 1000));
  expect(usualDurationMs([...last, ...earlier])).toBe(10);
});
