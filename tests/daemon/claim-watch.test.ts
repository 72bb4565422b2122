import { expect, test } from 'vitest';
import { watchClaim } from '#daemon/claim-watch.ts';
import { WfError } from '#system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A watch whose checks have the given results, in order. */
function watchWith(results: readonly (boolean | WfError)[]) {
  const clock = createFakeClock();
  const seen: string[] = [];
  const left = [...results];
  const renew = async () => {
    const result = left.shift() ?? false;
    if (typeof result === 'boolean') return result;
    throw result;
  };
  const report = (error: unknown) => void seen.push(String(error));
  const watch = watchClaim({ renew, onRenewed: () => seen.push('renewed'), report, clock });
  const second = async () => {
    clock.advance(1000);
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return { watch, clock, seen, second };
}

const full = new WfError('storage', 'the disk is full');

test('reports an error once, until the next check succeeds', async () => {
  const { watch, clock, seen, second } = watchWith([full, full, true, full, false]);
  for (let passed = 0; passed < 5; passed += 1) await second();
  expect(seen).toEqual([String(full), 'renewed', String(full)]);
  await watch.close();
  expect(clock.pending()).toBe(0);
});

test('ends with the conflict when another daemon has claimed the directory', async () => {
  const conflict = new WfError('conflict', 'a daemon is already running');
  const { watch, clock, seen, second } = watchWith([false, conflict]);
  await second();
  await second();
  expect(await watch.lost).toBe(conflict);
  expect([seen, clock.pending()]).toEqual([[], 0]);
});
