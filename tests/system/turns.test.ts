import { describe, expect, test } from 'vitest';
import { createSlices, createTurns, ownTurn } from '#system/turns.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('a little work is done at once', () => {
    const take = createTurns(2);
    const done: string[] = [];
    take(() => done.push('a'), false);
    take(() => done.push('b'), true);
    expect(done).toEqual(['a', 'b']);
  });

  test('more than fits into a turn waits for the next ones, in its order', async () => {
    const take = createTurns(2);
    const done: number[] = [];
    for (const number of [1, 2, 3, 4, 5]) take(() => done.push(number), false);
    expect(done).toEqual([1, 2]);
    await nextTurn();
    expect(done).toEqual([1, 2, 3, 4]);
    await nextTurn();
    expect(done).toEqual([1, 2, 3, 4, 5]);
    await nextTurn();
    take(() => done.push(6), false);
    expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('what is urgent goes before what waits already', async () => {
    const take = createTurns(1);
    const done: string[] = [];
    for (const name of ['a', 'b', 'c']) take(() => done.push(name), false);
    take(() => done.push('urgent'), true);
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    expect(done).toEqual(['a', 'urgent', 'b', 'c']);
  });

  test('work that takes more work on does not keep the turn', async () => {
    const take = createTurns(2);
    let count = 0;
    const again = () => {
      count += 1;
      if (count < 10) take(again, false);
    };
    take(again, false);
    expect(count).toBeLessThanOrEqual(2);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(count).toBe(10);
  });
});

test('in one turn of the event loop one slice of all work begins', async () => {
  const begun: string[] = [];
  const work = async (name: string) => {
    const pause = createSlices(0);
    for (let slice = 1; slice <= 2; slice += 1) {
      await (pause() ?? ownTurn());
      begun.push(`${name}${slice}`);
    }
  };
  const all = Promise.all(['a', 'b'].map(work));
  const turns: string[][] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    await nextTurn();
    turns.push(begun.splice(0));
  }
  await all;
  expect(turns.flat()).toEqual(['a1', 'b1', 'a2', 'b2']);
  expect(turns.every((turn) => turn.length <= 1)).toBe(true);
});
