import { expect, test } from 'vitest';
import { hashOf, lineRangeOf } from '#page/log/line-map.ts';

test('an address selects one or several lines, in any order', () => {
  expect(['#L7', '#L1204-L1210', '#L9-L3'].map(lineRangeOf)).toEqual([
    { from: 7, to: 7 },
    { from: 1204, to: 1210 },
    { from: 3, to: 9 },
  ]);
  expect(['', '#L', '#L0', '#main', '#L1-2', '#L1-L2-L3', '#L1e3'].map(lineRangeOf)).toEqual(Array(7).fill(null));
});

test('the address of lines is parsed back', () => {
  expect([hashOf(null), hashOf({ from: 7, to: 7 }), hashOf({ from: 3, to: 9 })]).toEqual(['', '#L7', '#L3-L9']);
});
