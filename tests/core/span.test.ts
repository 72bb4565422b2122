import { expect, it } from 'vitest';
import { parseSpan } from '#core/time-text.ts';

it.each([
  ['90s', 90_000],
  ['6h', 21_600_000],
  ['2d12h', 216_000_000],
  ['1w', 604_800_000],
  ['1.5h', 5_400_000],
  ['3600', 3_600_000],
  ['0', 0],
  ['', null],
  ['6 h', null],
  ['h', null],
  ['1..5h', null],
  ['-1h', null],
  ['1h30', null],
  ['6 hours', null],
])('"%s" is a length of time of %s ms', (text, ms) => {
  expect(parseSpan(text)).toBe(ms);
});
