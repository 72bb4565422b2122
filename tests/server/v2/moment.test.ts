import { expect, test } from 'vitest';
import { readMoment } from '#server/v2/v2-parts.ts';

test.each([
  ['2026-03-01', '2026-03-01T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-02-28T23:30:00-01:00', '2026-03-01T00:30:00.000Z'],
  ['2026-03-01T00:30Z', '2026-03-01T00:30:00.000Z'],
])('the time %s is %s', (text, moment) => {
  expect(readMoment('from', text)).toBe(Date.parse(moment));
});

test.each(['2026-02-30', '2025-02-29', '2026-04-31T10:00:00Z', '2026-06-31T10:00+02:00'])(
  'the date %s does not exist',
  (text) => {
    const error = { status: 400, message: `"to" cannot be "${text}"`, help: 'that month has fewer days' };
    expect(() => readMoment('to', text)).toThrow(expect.objectContaining(error));
  },
);
