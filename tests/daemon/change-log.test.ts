import { expect, test } from 'vitest';
import { ChangeLog } from '#daemon/live-changes.ts';
import fc from '../support/fast-check.ts';

test('returns each thing once, with its latest change', () => {
  const log = new ChangeLog<string>(10);
  for (const [key, change] of ['a1', 'b1', 'a2', 'c1'].map((text) => [text[0] ?? '', text] as const))
    log.add(key, change);

  expect([log.position(), log.since(0)?.map(({ change }) => change)]).toEqual([4, ['b1', 'a2', 'c1']]);
  expect(log.since(2)).toEqual([
    { position: 3, change: 'a2' },
    { position: 4, change: 'c1' },
  ]);
  expect(log.since(4)).toEqual([]);
});

test('rejects positions that are too old or unknown', () => {
  const log = new ChangeLog<number>(3);
  for (let i = 1; i <= 20; i += 1) log.add(`k${i}`, i);

  expect(log.since(17)?.map(({ change }) => change)).toEqual([18, 19, 20]);
  expect([log.since(16), log.since(0), log.since(21)]).toEqual([null, null, null]);
});

test('a reader at any pace has the latest of each thing at the end, unless changes were lost', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant('take' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (steps, limit) => {
      const log = new ChangeLog<number>(limit);
      const [truth, seen] = [new Map<string, number>(), new Map<string, number>()];
      let position = 0;
      const take = () => {
        const missed = log.since(position);
        if (missed === null) for (const [key, value] of truth) seen.set(key, value);
        for (const { change } of missed ?? []) seen.set(`k${change % 10}`, change);
        position = log.position();
      };
      for (const [index, each] of steps.entries()) {
        if (each === 'take') take();
        else {
          log.add(`k${each}`, index * 10 + each);
          truth.set(`k${each}`, index * 10 + each);
        }
      }
      take();
      expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(truth));
    }),
  );
});
