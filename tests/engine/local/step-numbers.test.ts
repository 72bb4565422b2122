import { describe, expect, it } from 'vitest';
import { instancesOf, stepState } from '#core/run/run-state.ts';
import type { NumberText, Step } from '#core/workflow.ts';
import { type Work, withEngine } from '../../support/engine-world.ts';
import { step, workflow } from '../../support/workflow.ts';

const failing: Work = () => ({
  status: 'failed',
  reason: 'exit',
  message: 'exit 7',
  exitCode: 7,
  signal: null,
  outputs: {},
});

/** Runs a step whose numbers are variables, and resolves to its state. */
async function run(made: Partial<Step>, numbers: readonly NumberText[], options: { env: Record<string, string> }) {
  return withEngine({ work: { a: failing }, processEnv: options.env }, async ({ start, clock }) => {
    const run = start(workflow({ steps: [step('a', { ...made, numbers })] }));
    // The waits between attempts end as soon as they begin.
    const ticks = setInterval(() => clock.advance(1), 1);
    const state = await run.finished.finally(() => clearInterval(ticks));
    return stepState(state, 'a');
  });
}

describe('a step whose numbers are variables', () => {
  it('is attempted as often as its variable says', async () => {
    const numbers = [{ key: 'retryPolicy.limit', text: '$N' }] as const;
    expect(await run({}, numbers, { env: { N: '2' } })).toMatchObject({ attempt: 3, message: 'exit 7' });
  });

  it('is retried only after an exit code from a variable', async () => {
    const retry = { limit: 1, intervalMs: 0, exitCodes: [] };
    const numbers = [{ key: 'retryPolicy.exitCode', text: '${CODE}' }] as const;
    expect(await run({ retry }, numbers, { env: { CODE: '7' } })).toMatchObject({ attempt: 2 });
    expect(await run({ retry }, numbers, { env: { CODE: '8' } })).toMatchObject({ attempt: 1 });
  });

  it('sees the variables of its own env', async () => {
    const numbers = [{ key: 'retryPolicy.limit', text: '$N' }] as const;
    const env = [{ name: 'N', value: '1' }];
    expect(await run({ env }, numbers, { env: { N: '5' } })).toMatchObject({ attempt: 2 });
  });

  it('fails once with an invalid number, even if it repeats until it succeeds', async () => {
    const repeat = { intervalMs: 0, mode: 'until', exitCodes: [0] } as const;
    const numbers = [{ key: 'repeatPolicy.limit', text: '$N' }] as const;
    expect(await run({ repeat }, numbers, { env: { N: 'x' } })).toMatchObject({
      status: 'failed',
      reason: 'error',
      attempt: 1,
      message: '"repeatPolicy.limit: $N" must be a whole number from 1 to 2147483647, got "x"',
    });
  });

  it('runs as many instances at once as its variable says', async () => {
    const fanOut = { items: ['a', 'b', 'c'], maxConcurrent: 10, failFast: false };
    const numbers = [
      { key: 'parallel.maxConcurrent', text: '$K' },
      { key: 'retryPolicy.limit', text: '${ITEM.tries:-0}' },
    ] as const;
    let running = 0;
    let most = 0;
    const work: Work = async () => {
      running++;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { status: 'succeeded', exitCode: 0, outputs: {} };
    };
    const all = { 'a[a]': work, 'a[b]': work, 'a[c]': work };
    await withEngine({ work: all, processEnv: { K: '1' } }, async ({ start }) => {
      const state = await start(workflow({ steps: [step('a', { fanOut, numbers })] })).finished;
      const fan = stepState(state, 'a');
      expect(fan.instances?.maxConcurrent).toBe(1);
      expect(instancesOf(state, fan).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    });
    expect(most).toBe(1);
  });
});
