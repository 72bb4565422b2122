import { expect, test } from 'vitest';
import { createPacedWakeups } from '#server/v2/daemon/live-events.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

test('a loop is woken at most once per pause', async () => {
  const { clock, wakeups, count } = world();
  wakeups.wake();
  await expect.poll(count).toBe(1);

  wakeups.wake();
  wakeups.wake();
  clock.advance(99);
  await turn();
  expect(count()).toBe(1);
  clock.advance(1);
  await expect.poll(count).toBe(2);
  clock.advance(1000);
  await turn();
  expect(count()).toBe(2);
});

test('a clock that is set back does not delay the next wake-up', async () => {
  const { clock, wakeups, count, setBack } = world();
  wakeups.wake();
  await expect.poll(count).toBe(1);

  setBack(3_600_000);
  wakeups.wake();
  clock.advance(100);

  await expect.poll(count, { timeout: 1000 }).toBe(2);
});

/** A loop with a pause of 100 ms, which counts its rounds. */
function world() {
  const fake = createFakeClock();
  let behindMs = 0;
  const clock = {
    now: () => fake.now() - behindMs,
    elapsed: fake.elapsed,
    setTimer: (at: number, callback: () => void) => fake.setTimer(at + behindMs, callback),
  };
  const wakeups = createPacedWakeups(new AbortController().signal, clock, 100);
  let rounds = 0;
  const loop = async () => {
    for (;;) {
      await wakeups.next();
      rounds += 1;
    }
  };
  void loop();
  return {
    clock: fake,
    wakeups,
    count: () => rounds,
    setBack: (ms: number) => {
      behindMs = ms;
    },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
