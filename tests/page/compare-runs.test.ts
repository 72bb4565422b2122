import { expect, test } from 'vitest';
import { compareParams, compareSteps } from '#page/data/compare-runs.ts';

const step = (name: string, status: 'succeeded' | 'failed' | 'pending', durationMs: number | null) =>
  ({ name, status, durationMs }) as Parameters<typeof compareSteps>[0][number];
const earlier = (...steps: unknown[]) => ({ steps, handlers: [] }) as unknown as Parameters<typeof compareSteps>[1];

test('steps are compared by name, those with another status first, then those whose duration differs most', () => {
  const rows = compareSteps(
    [
      step('same', 'succeeded', 100),
      step('slower', 'succeeded', 900),
      step('faster', 'succeeded', 100),
      step('broken', 'failed', 50),
      step('new', 'succeeded', 10),
      step('waiting', 'pending', null),
    ],
    earlier(
      step('same', 'succeeded', 100),
      step('slower', 'succeeded', 500),
      step('faster', 'succeeded', 800),
      step('broken', 'succeeded', 60),
      step('gone', 'succeeded', 1),
      step('waiting', 'pending', null),
    ),
  );

  expect(rows.map(({ name, longerMs }) => [name, longerMs])).toEqual([
    ['broken', -10],
    ['new', null],
    ['gone', null],
    ['faster', -700],
    ['slower', 400],
    ['same', 0],
    ['waiting', null],
  ]);
  expect(rows[2]).toMatchObject({ step: null, before: { status: 'succeeded' } });
});

test('parameters are compared by name or number, and only different ones are listed', () => {
  const params = (...given: (readonly [string | null, string])[]) => ({
    params: given.map(([name, value]) => ({ name, value })),
  });

  expect(
    compareParams(params(['DAY', '2'], ['MODE', 'full'], [null, 'x']), params(['DAY', '1'], ['MODE', 'full'])),
  ).toEqual([
    { name: 'DAY', value: '2', before: '1' },
    { name: '$3', value: 'x', before: null },
  ]);
});
