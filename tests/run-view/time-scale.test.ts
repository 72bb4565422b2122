import { expect, it } from 'vitest';
import { marks, percent, timeScale } from '#run-view/timeline.tsx';

it.each([
  [1, ['0']],
  [40, ['0', '10ms', '20ms', '30ms']],
  [2900, ['0', '0.5s', '1s', '1.5s', '2s', '2.5s']],
  [61_000, ['0', '15s', '30s', '45s']],
  [3_600_000, ['0', '10m00s', '20m00s', '30m00s', '40m00s', '50m00s']],
  [40 * 86_400_000, ['0', '7d00h', '14d00h', '21d00h', '28d00h', '35d00h']],
])('%d ms have marks at round numbers', (total, texts) => {
  expect(marks(timeScale(1000, 1000 + total)).map(({ text }) => text)).toEqual(texts);
});

it('a time outside the scale is placed at its end, as after a clock was set back', () => {
  const scale = timeScale(1000, 2000);

  expect([500, 1000, 1250, 2000, 9000].map((at) => percent(scale, at))).toEqual([0, 0, 25, 100, 100]);
});

it('a run with zero duration has a scale too', () => {
  expect(timeScale(1000, 1000)).toEqual({ from: 1000, to: 1001, markMs: 1 });
});
