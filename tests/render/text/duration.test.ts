import { expect, test } from 'vitest';
import { formatDuration, formatElapsed, formatInterval } from '#render/text/value-text.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.each([
  [-5, '0.0s'],
  [0, '0.0s'],
  [349, '0.3s'],
  [9949, '9.9s'],
  [9950, '10s'],
  [12.4 * second, '12s'],
  [59_499, '59s'],
  [59_500, '1m00s'],
  [4 * minute + 5 * second, '4m05s'],
  [2 * hour + 10 * minute, '2h10m'],
  [25 * hour, '1d01h'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('a running time is shown in elapsed whole seconds', () => {
  expect([0, 999, 1000, 59_999, 60_000].map(formatElapsed)).toEqual(['0s', '0s', '1s', '59s', '1m00s']);
});

test('an interval from a file is shown as it was written there', () => {
  expect([0, 500, 5000, 600_000].map(formatInterval)).toEqual(['0s', '0.5s', '5s', '10m00s']);
});
