import { expect, test } from 'vitest';
import { given } from '#core/data/collections.ts';

test('only fields with a value are left, false and empty ones too', () => {
  const fields = { a: null, b: undefined, c: false, d: '', e: 0 };

  expect(Object.entries(given(fields))).toEqual([
    ['c', false],
    ['d', ''],
    ['e', 0],
  ]);
});
