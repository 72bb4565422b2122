import { expect, test } from 'vitest';
import { indexSet, smallestIndex, withIndex, withoutIndex } from '#core/data/collections.ts';
import fc from '../../support/fast-check.ts';

const capacity = 3000;
const index = fc.nat(capacity - 1);
const change = fc.record({ index, isAdded: fc.boolean() });

test('behaves like a Set that knows its smallest member, and leaves earlier sets unchanged', () => {
  fc.assert(
    fc.property(fc.array(index), fc.array(change), (members, changes) => {
      const model = new Set(members);
      let set = indexSet(capacity, members);
      for (const { index, isAdded } of changes) {
        const before = set;
        const copy = structuredClone(before);
        set = isAdded ? withIndex(set, index) : withoutIndex(set, index);
        if (isAdded) model.add(index);
        else model.delete(index);
        expect(before).toEqual(copy);
        expect(smallestIndex(set)).toBe(model.size === 0 ? null : Math.min(...model));
        expect(set).toEqual(indexSet(capacity, model));
      }
    }),
    { numRuns: 200 },
  );
});

test('every number from 0 to the capacity can be a member', () => {
  for (const index of [0, 31, 32, 1023, 1024, 2047, 2048, 2999]) {
    expect(smallestIndex(withIndex(indexSet(capacity, []), index))).toBe(index);
  }
  expect(() => withIndex(indexSet(32, []), 32)).toThrow(RangeError);
});
