import { expect, test } from 'vitest';
import { watchClaim } from '#daemon/claim-watch.ts';
import { WfError } from '#system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A watch whose checks have the given results, in order; an error is thrown. */
function watchWith(results: readonly (WfError | null | 'throw')[]) {
  const clock = createFakeClock();
  const seen: string[] = [];
  const left = [...results];
  const loss = () => {
    const result = left.shift() ?? null;
    if (result === 'throw') throw new Error('the disk does not answer');
    return result;
  };
  const watch = watchClaim(loss, (error) => void seen.push(String(error)), clock);
  return { watch, clock, seen };
}

test('reports an error once, until the next check succeeds', () => {
  const { watch, clock, seen } = watchWith(['throw', 'throw', null, 'throw', null]);
  for (let passed = 0; passed < 5; passed += 1) clock.advance(1000);
  expect(seen).toEqual(['Error: the disk does not answer', 'Error: the disk does not answer']);
  watch.close();
  expect(clock.pending()).toBe(0);
});

test('ends with the reason when this process is no longer the daemon', async () => {
  const conflict = new WfError('conflict', 'a daemon is already running');
  const { watch, clock, seen } = watchWith([null, conflict]);
  clock.advance(1000);
  clock.advance(1000);
  expect(await watch.lost).toBe(conflict);
  expect([seen, clock.pending()]).toEqual([[], 0]);
});
