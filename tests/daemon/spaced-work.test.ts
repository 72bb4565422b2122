import { expect, test } from 'vitest';
import { SpacedWork } from '#daemon/spaced-work.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

/** Work with a pause of a second, that ends when the test says so. */
function spacedWork() {
  const clock: FakeClock = createFakeClock();
  const ends: (() => void)[] = [];
  let begun = 0;
  const work = () => {
    begun += 1;
    return new Promise<void>((resolve) => void ends.push(resolve));
  };
  const spaced = new SpacedWork({ work, pauseMs: () => 1000, clock, report: () => {} });
  const end = async () => {
    ends.shift()?.();
    await settled();
  };
  return { ask: spaced.ask, close: spaced.close, clock, end, begun: () => begun };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('the first request is met at once, and all others of the next second together', async () => {
  const { ask, clock, end, begun } = spacedWork();
  ask();
  expect(begun()).toBe(1);
  await end();
  for (let at = 0; at < 200; at += 1) ask();
  clock.advance(999);
  expect(begun()).toBe(1);
  clock.advance(1);
  expect([begun(), clock.pending()]).toEqual([2, 0]);
  await end();
  clock.advance(10_000);
  expect(begun()).toBe(2);
});

test('a request during the work is met after it, since the work may have missed the reason', async () => {
  const { ask, clock, end, begun } = spacedWork();
  ask();
  ask();
  clock.advance(5000);
  expect(begun()).toBe(1);
  await end();
  expect(begun()).toBe(2);
});

test('a request resolves after the work that began after it', async () => {
  const { ask, clock, end } = spacedWork();
  const resolved: string[] = [];
  const note = async (name: string, asked: Promise<void>) => {
    await asked;
    resolved.push(name);
  };
  void note('first', ask());
  void note('during', ask());
  await end();
  expect(resolved).toEqual(['first']);
  void note('after', ask());
  clock.advance(1000);
  await end();
  expect(resolved).toEqual(['first', 'during', 'after']);
});

test('closing does what was asked for without the pause', async () => {
  const { ask, close, clock, end, begun } = spacedWork();
  ask();
  ask();
  const closed = close();
  await end();
  expect([begun(), clock.pending()]).toEqual([2, 0]);
  await end();
  await closed;
  expect(begun()).toBe(2);
});

test('closing during the pause takes its timer back', async () => {
  const { ask, close, clock, end, begun } = spacedWork();
  ask();
  await end();
  ask();
  const closed = close();
  expect([begun(), clock.pending()]).toEqual([2, 0]);
  await end();
  await closed;
});

test('failed work is reported, and done again when it is asked for', async () => {
  const reported: unknown[] = [];
  let begun = 0;
  const work = async () => {
    begun += 1;
    throw new Error(`failed ${begun}`);
  };
  const { ask } = new SpacedWork({
    work,
    pauseMs: () => 0,
    clock: createFakeClock(),
    report: (error) => reported.push(error),
  });
  ask();
  await settled();
  ask();
  await settled();
  expect(reported).toEqual([new Error('failed 1'), new Error('failed 2')]);
});
