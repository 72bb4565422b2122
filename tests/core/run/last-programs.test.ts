import { expect, test } from 'vitest';
import { startsNoMore } from '#core/run/settle.ts';
import type { Step } from '#core/workflow.ts';
import { DrivenRun } from '../../support/driven-run.ts';
import { handler, step } from '../../support/workflow.ts';

const identity = { pid: 7, startTime: 1, boot: 'boot' };

/** The program of the step's present attempt has started. */
function begin(run: DrivenRun, name: string): void {
  const { attempt } = run.step(name);
  run.send({ type: 'attempt-started', at: run.now, step: name, attempt, process: identity });
}

test('the program of the last step is the last one, from its start', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })] });
  begin(run, 'a');
  expect(startsNoMore(run.state)).toBe(false);
  run.succeed('a');
  expect(startsNoMore(run.state)).toBe(false);
  begin(run, 'b');
  expect(startsNoMore(run.state)).toBe(true);
});

test('a run that waits, and one that has finished, are at no last program', () => {
  const run = new DrivenRun({ steps: [step('a')] });
  expect(startsNoMore(run.state)).toBe(false);
  run.start();
  begin(run, 'a');
  run.succeed('a');
  expect([run.ending, startsNoMore(run.state)]).toEqual([['succeeded', null], false]);
});

test.each<[string, Partial<Step>]>([
  ['may be retried', { retry: { limit: 1, intervalMs: 0 } }],
  ['may be retried as often as a variable says', { numbers: [{ key: 'retryPolicy.limit', text: '$N' }] }],
  ['repeats', { repeat: { intervalMs: 0 } }],
  ['is a service', { service: { readyWhen: null, intervalMs: 1, timeoutMs: 1 } }],
  ['has an executor of several programs', { executor: { type: 'terraform', config: {} } }],
])('a step that %s may start another program', (_, settings) => {
  const run = DrivenRun.started({ steps: [step('a', settings)] });
  begin(run, 'a');
  expect(startsNoMore(run.state)).toBe(false);
});

test('the last retry is the last program', () => {
  const run = DrivenRun.started({ steps: [step('a', { retry: { limit: 1, intervalMs: 0 } })] });
  begin(run, 'a');
  run.fail('a');
  run.fire('a');
  expect(startsNoMore(run.state)).toBe(false);
  begin(run, 'a');
  expect(startsNoMore(run.state)).toBe(true);
});

test('a step without a process yet is no last program', () => {
  const run = DrivenRun.started({ steps: [step('a')] });
  run.begin('a');
  expect(startsNoMore(run.state)).toBe(false);
});

test('a handler that may follow starts another program, the last handler does not', () => {
  const run = DrivenRun.started({
    steps: [step('a')],
    handlers: { success: handler('success'), exit: handler('exit') },
  });
  begin(run, 'a');
  expect(startsNoMore(run.state)).toBe(false);
  run.succeed('a');
  begin(run, 'handlerOn.success');
  expect(startsNoMore(run.state)).toBe(false);
  run.succeed('handlerOn.success');
  begin(run, 'handlerOn.exit');
  expect(startsNoMore(run.state)).toBe(true);
});

test('the handler that runs before the steps is not awaited', () => {
  const run = DrivenRun.started({ steps: [step('a')], handlers: { init: handler('init') } });
  begin(run, 'handlerOn.init');
  expect(startsNoMore(run.state)).toBe(false);
  run.succeed('handlerOn.init');
  begin(run, 'a');
  expect(startsNoMore(run.state)).toBe(true);
});

test('instances of a fan-out are last programs when all of them have started', () => {
  const fanOut = { items: ['x', 'y'], maxConcurrent: 2, failFast: false };
  const run = DrivenRun.started({ steps: [step('a', { fanOut })] });
  run.begin('a');
  expect(startsNoMore(run.state)).toBe(false);
  run.expand('a', ['x', 'y']);
  begin(run, 'a[x]');
  expect(startsNoMore(run.state)).toBe(false);
  begin(run, 'a[y]');
  expect(startsNoMore(run.state)).toBe(true);
});
