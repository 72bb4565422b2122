import { expect, test } from 'vitest';
import { LogSizes } from '#server/v2/daemon/run-part.ts';
import { nextTurn } from '#system/turns.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

test('the size at the end of an attempt is the last, even if an earlier check takes longer', async () => {
  const checks: ((size: number) => void)[] = [];
  const file = () => ({ size: () => new Promise<number>((resolve) => checks.push(resolve)) });
  const run = { runId: 'r', stored: { logs: { file, streams: async () => ['output'] } } } as never;
  const clock = createFakeClock();
  const fail = (error: unknown) => {
    throw error;
  };
  const sizes = new LogSizes(run, { clock, wake: () => {}, fail });
  const attempt = { at: 0, step: 'a', attempt: 1 };
  sizes.add({ ...attempt, type: 'step.started' } as never, { isPast: false });
  clock.advance(250);
  await nextTurn();
  sizes.add({ ...attempt, type: 'step.finished' } as never, { isPast: false });
  await nextTurn();
  const [early, late] = checks;
  late?.(200);
  await nextTurn();
  early?.(100);
  await nextTurn();
  for (const check of checks.slice(2)) check(0);
  await nextTurn();
  expect([...sizes.take()].map(({ size }) => size)).toEqual([200]);
});
