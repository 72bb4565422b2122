import { expect, it } from 'vitest';
import { Heartbeat } from '#engine/temporal/worker/heartbeat.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

type Answer = 'ok' | 'end' | 'away' | 'gone';

/** A heartbeat whose server answers as the test wants; `lost` and `ends` are what it called. */
function beating(lostAfterMs = 10_000) {
  const clock = createFakeClock();
  const calls: string[] = [];
  let answer: Answer = 'ok';
  const heartbeat = new Heartbeat({
    clock,
    lostAfterMs,
    send: async () => {
      if (answer === 'gone') throw Object.assign(new Error('not found'), { code: 5 });
      if (answer === 'away') throw Object.assign(new Error('unavailable'), { code: 14 });
      return answer === 'end';
    },
    onEnd: () => calls.push('end'),
    onLost: (how) => calls.push(`lost: ${how}`),
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      clock.advance(250);
      for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
    }
  };
  const set = (next: Answer) => {
    answer = next;
  };
  return { heartbeat, calls, pass, set };
}

it('an attempt begins when the server has confirmed a beat', async () => {
  const { heartbeat, pass, set, calls } = beating();
  set('away');
  const begun = heartbeat.begin();
  await pass(2000);
  set('ok');
  await pass(1000);

  expect([await begun, calls]).toEqual([true, []]);
  heartbeat.close();
});

it('an attempt that the server gave away does not begin', async () => {
  const { heartbeat, set } = beating();
  set('gone');

  expect([await heartbeat.begin(), heartbeat.isLost]).toEqual([false, true]);
});

it('each beat passes a request to end on', async () => {
  const { heartbeat, calls, pass, set } = beating();
  await heartbeat.begin();
  set('end');
  await pass(2250);

  expect(calls).toEqual(['end', 'end']);
  heartbeat.close();
});

it('an attempt that is not heard ends at 0.6 of the time, and is killed at 0.8', async () => {
  const { heartbeat, calls, pass, set } = beating();
  await heartbeat.begin();
  set('away');
  await pass(5500);
  expect(calls).toEqual([]);
  await pass(1000);
  expect(calls).toEqual(['lost: end']);
  await pass(2000);
  expect(calls).toEqual(['lost: end', 'lost: kill']);
  heartbeat.close();
});

it('an answer in time keeps the attempt', async () => {
  const { heartbeat, calls, pass, set } = beating();
  await heartbeat.begin();
  for (const answer of ['away', 'ok', 'away', 'ok'] as const) {
    set(answer);
    await pass(4000);
  }

  expect([calls, heartbeat.isLost]).toEqual([[], false]);
  heartbeat.close();
});

it('an attempt that the server gave away is killed at once', async () => {
  const { heartbeat, calls, pass, set } = beating();
  await heartbeat.begin();
  set('gone');
  await pass(1250);

  expect(calls).toEqual(['lost: kill']);
});
