import { expect, test } from 'vitest';
import { attemptIn, momentIn } from '../../../src/server/v2/query.ts';

const query = (name: string, value: string) => new URLSearchParams({ [name]: value });

test.each([
  ['2026-03-01', '2026-03-01T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-02-28T23:30:00-01:00', '2026-03-01T00:30:00.000Z'],
  ['2026-03-01T00:30Z', '2026-03-01T00:30:00.000Z'],
])('the moment %s is %s', (text, moment) => {
  expect(momentIn(query('from', text), 'from')).toBe(Date.parse(moment));
});

test.each(['2026-02-30', '2025-02-29', '2026-04-31T10:00:00Z', '2026-06-31T10:00+02:00'])('there is no %s', (text) => {
  const error = { status: 400, message: `"to" cannot be "${text}"`, help: 'that month has fewer days' };
  expect(() => momentIn(query('to', text), 'to')).toThrow(expect.objectContaining(error));
});

test('attempts are counted from 1 on', () => {
  expect([attemptIn(query('attempt', '1')), attemptIn(query('attempt', '')), attemptIn(query('x', '1'))]).toEqual([
    1,
    null,
    null,
  ]);
  for (const text of ['0', '00', '-1', 'x', '1.5']) {
    expect(() => attemptIn(query('attempt', text))).toThrow(expect.objectContaining({ status: 400 }));
  }
});
