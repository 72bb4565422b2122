import { expect, test } from 'vitest';
import { parseInstant, spanOption } from '#cli/commands/history/history-command.ts';

test.each([
  ['2024-02-29', 'start', '2024-02-29T00:00:00'],
  ['2026-02-28', 'end', '2026-02-28T23:59:59.999'],
  ['2026-03-01 10:30', 'end', '2026-03-01T10:30'],
  ['2026-02-28T23:30:00-05:00', 'start', '2026-03-01T04:30:00Z'],
] as const)('%s, of a day its %s, is %s', (text, day, moment) => {
  expect(parseInstant('--from', text, day)).toBe(Date.parse(moment));
});

test.each(['2026-02-30', '2025-02-29', '2026-04-31T10:00', '2026-06-31 10:00', '2026-02-30T10:00Z'])(
  'there is no %s',
  (text) => {
    const error = {
      code: 'usage',
      message: `--to "${text}" is not a time`,
      help: 'that month has fewer days',
    };
    expect(() => parseInstant('--to', text, 'end')).toThrow(expect.objectContaining(error));
  },
);

test.each(['yesterday', '2026-13-01', '2026-03-32', '2026-03-01T25:00'])('%s is not a time', (text) => {
  const error = { code: 'usage', help: 'such as 2026-03-01 or 2026-03-01T10:30' };
  expect(() => parseInstant('--to', text, 'end')).toThrow(expect.objectContaining(error));
});

test.each([
  ['2d12h', 216_000_000],
  ['90m', 5_400_000],
  ['1.5w', 907_200_000],
])('--last %s is the same duration as in a file', (text, ms) => {
  expect(spanOption('--last', text)).toBe(ms);
});

test.each(['7', '1.5', '', 'h', '2d 12h', '-1h'])('"%s" is an invalid duration on the command line', (text) => {
  expect(() => spanOption('--last', text)).toThrow(expect.objectContaining({ code: 'usage' }));
});
