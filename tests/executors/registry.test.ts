import { describe, expect, test } from 'vitest';
import { executor as command } from '#executors/command/command.ts';
import { loadExecutor, registry } from '#executors/registry.ts';
import { failed, testAttempt } from './attempt.ts';

test('the executor of nearly every step is available synchronously', () => {
  expect(loadExecutor('command')).toBe(command);
});

test('properties that every object has are not executors', () => {
  expect(() => loadExecutor('constructor')).toThrow('no executor has the type "constructor"');
});

describe('a step that runs another workflow', () => {
  const result = { ok: true, canceled: false, json: '{"outputs":{"A":"1"}}', message: '' };

  async function run(outcome: typeof result) {
    const requests: unknown[] = [];
    const runWorkflow = async (request: unknown) => {
      requests.push(request);
      return outcome;
    };
    const world = testAttempt({ runWorkflow, variables: { X: 'a b' } });
    const executor = await loadExecutor('workflow');
    const ended = await executor.run({ run: 'other', params: 'P=$X' }, world.attempt);
    return { requests, ended, stdout: world.stdout(), started: world.started };
  }

  test('prints its result', async () => {
    expect(await run(result)).toEqual({
      requests: [{ run: 'other', params: 'P=$X' }],
      ended: { status: 'succeeded', exitCode: null, outputs: {} },
      stdout: '{"outputs":{"A":"1"}}\n',
      // The engine reports the start, with the id of the child run.
      started: [],
    });
  });

  test('fails with it', async () => {
    const { ended, stdout } = await run({ ...result, ok: false, json: '', message: 'it failed' });
    expect({ ended, stdout }).toEqual({ ended: failed('error', 'it failed'), stdout: '' });
  });

  test('is canceled with it', async () => {
    const { ended } = await run({ ...result, ok: false, canceled: true, message: 'stopped' });
    expect(ended).toEqual({ status: 'canceled', message: 'stopped', exitCode: null, signal: null });
  });
});

test('the registry names every executor of the format', () => {
  expect(Object.keys(registry).sort()).toEqual([
    'ansible',
    'command',
    'docker',
    'http',
    'jq',
    'mail',
    'ssh',
    'terraform',
    'webhook',
    'workflow',
  ]);
});
