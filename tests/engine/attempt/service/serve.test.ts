import { expect, test } from 'vitest';
import { serve } from '#engine/attempt/service/serve.ts';
import type { Attempt } from '#executors/executor.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

const hour = 3_600_000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A service with a limit of ten seconds, whose check fails every second. */
function neverReady() {
  const clock = createFakeClock();
  let isGivenUp = false;
  let end = () => {};
  const outcome = serve({
    service: { readyWhen: { kind: 'command', command: 'check' }, intervalMs: 1000, timeoutMs: 10_000 },
    attempt: { started: () => {} } as Partial<Attempt> as Attempt,
    run: (attempt) => {
      attempt.started(null);
      return new Promise((resolve) => {
        end = () =>
          resolve({ status: 'failed', reason: 'exit', message: '', exitCode: null, signal: null, outputs: {} });
      });
    },
    capture: async () => ({ ok: false, ended: true, message: 'exit 1', exitCode: 1, stdout: '' }),
    logs: [],
    clock,
    isContained: false,
    ready: () => {},
    giveUp: () => {
      isGivenUp = true;
      end();
    },
  });
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 1) {
      clock.advance(1000);
      await turn();
    }
  };
  return { clock, outcome, pass, isGivenUp: () => isGivenUp };
}

test.each([
  ['forward', hour],
  ['back', -hour],
])('a clock that was set %s does not change how long a service may take until it is ready', async (_, ms) => {
  const { clock, outcome, pass, isGivenUp } = neverReady();
  await turn();
  await pass(3);
  clock.set(ms);
  await pass(6);
  expect(isGivenUp()).toBe(false);
  await pass(1);
  expect(isGivenUp()).toBe(true);
  expect(await outcome).toMatchObject({ reason: 'unready', message: 'not ready within 10s: exit 1' });
});
