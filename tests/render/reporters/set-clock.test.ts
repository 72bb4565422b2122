import { expect, test } from 'vitest';
import { createHeartbeat } from '#render/reporters/github.ts';
import { createFrames } from '#render/reporters/tree/live-region.ts';
import { ManualClock } from '../support/manual-clock.ts';

const hour = 3_600_000;

test('a clock that was set back does not delay the next frame', () => {
  const clock = new ManualClock(2 * hour);
  let painted = 0;
  const frames = createFrames(clock, () => {
    painted += 1;
    return { showsTime: false };
  });
  clock.set(-hour);
  frames.request();
  clock.advance(100);
  expect(painted).toBe(1);
  frames.stop();
});

test('a clock that was set back does not silence the heartbeat', () => {
  const clock = new ManualClock(2 * hour);
  let beats = 0;
  const heartbeat = createHeartbeat(clock, 1000, () => {
    beats += 1;
  });
  clock.set(-hour);
  clock.advance(2000);
  expect(beats).toBe(1);
  clock.advance(1000);
  expect(beats).toBe(2);
  heartbeat.stop();
});
