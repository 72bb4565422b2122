import { expect, test } from 'vitest';
import { RunLimit, RunTimers } from '#engine/driver/timers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const hour = 3_600_000;

test.each([
  ['forward', hour],
  ['back', -hour],
])('a clock that was set %s changes nothing about the time that is left after an approval', (_, ms) => {
  const clock = createFakeClock();
  let ends = 0;
  const limit = new RunLimit(clock, new RunTimers(clock), () => (ends += 1));
  limit.start(10_000);
  clock.advance(4000);
  clock.set(ms);
  limit.hold(true);
  clock.advance(hour);
  limit.hold(false);
  clock.advance(5999);
  expect(ends).toBe(0);
  clock.advance(1);
  expect(ends).toBe(1);
});
