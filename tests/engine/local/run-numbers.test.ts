import { expect, it } from 'vitest';
import { stepState } from '#core/run/run-state.ts';
import { canceled } from '#processes/end-signal.ts';
import { foldRun } from '#service/history/fold-run.ts';
import { type Work, withEngine } from '../../support/engine-world.ts';
import { step, workflow } from '../../support/workflow.ts';

const succeeding: Work = () => ({ status: 'succeeded', exitCode: 0, outputs: {} });

it('runs at most as many steps at once as its variable says, also by its journal', async () => {
  let running = 0;
  let most = 0;
  const work: Work = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return succeeding(undefined as never);
  };
  const limited = workflow({
    steps: ['a', 'b', 'c'].map((name) => step(name)),
    numbers: [{ key: 'maxActiveSteps', text: '$N' }],
  });
  await withEngine({ work: { a: work, b: work, c: work }, processEnv: { N: '1' } }, async ({ start, events }) => {
    await start(limited).finished;
    expect(events.find(({ type }) => type === 'run.prepared')).toMatchObject({
      numbers: [{ key: 'maxActiveSteps', value: 1 }],
    });
    expect(foldRun(limited, events).state.policies.maxActiveSteps).toBe(1);
  });
  expect(most).toBe(1);
});

it('is stopped after the duration that a parameter gives', async () => {
  const slow: Work = ({ signal }) =>
    new Promise((resolve) => signal.toAbortSignal().addEventListener('abort', () => resolve(canceled)));
  const params = [{ name: 'LIMIT', value: '90s' }];
  const limited = workflow({ params, steps: [step('a')], numbers: [{ key: 'timeoutSec', text: '${LIMIT}' }] });
  await withEngine({ work: { a: slow } }, async ({ start, clock, told }) => {
    const run = start(limited);
    await told('step.scheduled', 'a');
    clock.advance(89_999);
    expect(run.state().cancellation).toBe(null);
    clock.advance(1);
    expect(await run.finished).toMatchObject({ status: 'failed', reason: 'timeout', message: 'timed out after 90s' });
  });
});

it('starts no step if a value is invalid for its key', async () => {
  const wrong = workflow({ steps: [step('a')], numbers: [{ key: 'maxOutputSize', text: '$SIZE' }] });
  await withEngine({ work: { a: succeeding }, processEnv: { SIZE: '0' } }, async ({ start }) => {
    const state = await start(wrong).finished;
    expect(state).toMatchObject({
      status: 'failed',
      reason: 'error',
      message: '"maxOutputSize: $SIZE" must be a whole number from 1 to 67108864, got "0"',
    });
    expect(stepState(state, 'a').status).toBe('pending');
  });
});
