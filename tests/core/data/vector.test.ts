import { expect, test } from 'vitest';
import { firstItems, itemAt, vectorOf, withItem } from '#core/data/collections.ts';
import fc from '../../support/fast-check.ts';

test('behaves like an array, and leaves earlier lists unchanged', () => {
  const change = fc.record({ index: fc.nat(299), item: fc.string() });
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 300 }), fc.array(change), (items, changes) => {
      let list = vectorOf(items);
      let model: readonly string[] = items;
      for (const { index, item } of changes.filter(({ index }) => index < items.length)) {
        const before = list;
        list = withItem(list, index, item);
        expect([...firstItems(before, before.length)]).toEqual(model);
        model = model.with(index, item);
        expect(itemAt(list, index)).toBe(item);
      }
      expect([...firstItems(list, list.length)]).toEqual(model);
    }),
  );
});

test('a change shares everything but two arrays with the previous list', () => {
  const before = vectorOf(Array.from({ length: 1000 }, (_, index) => index));
  const after = withItem(before, 500, -1);
  const shared = after.chunks.filter((chunk, number) => chunk === before.chunks[number]);
  expect(shared).toHaveLength(before.chunks.length - 1);
});

test('an index outside the list is an error', () => {
  const list = vectorOf(['a', 'b']);
  for (const index of [-1, 2, 64]) {
    expect(() => itemAt(list, index)).toThrow(RangeError);
    expect(() => withItem(list, index, 'c')).toThrow(RangeError);
  }
});
