import { describe, expect, test } from 'vitest';
import { verdict } from '#core/run/verdict.ts';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { canceled, failure, skip } from '../../support/outcome.ts';
import { handler, step } from '../../support/workflow.ts';

const tolerant = { failure: true, skipped: false };
const handlers = {
  success: handler('success'),
  failure: handler('failure'),
  cancel: handler('cancel'),
  exit: handler('exit'),
};

describe('the handler "init"', () => {
  const settings = {
    steps: [step('a'), step('b', { depends: ['a'] })],
    handlers: { ...handlers, init: handler('init') },
  };

  test('runs before the first step, and again in a retry', () => {
    const run = DrivenRun.started(settings);
    expect(told(run.events)).toEqual(['run.started', 'step.scheduled handlerOn.init 1']);
    expect(told(run.succeed('handlerOn.init'))).toEqual([
      'step.finished handlerOn.init succeeded',
      'step.scheduled a 1',
    ]);
    const again = new DrivenRun(settings);
    again.start([{ step: 'a', status: 'succeeded', outputs: {} }]);
    expect(again.step('b').status).toBe('pending');
    again.succeed('handlerOn.init');
    expect(again.step('b').status).toBe('scheduled');
  });

  test('fails the run without its steps, and the failure handlers follow', () => {
    const run = DrivenRun.started(settings);
    expect(told(run.fail('handlerOn.init'))).toEqual([
      'step.finished handlerOn.init failed',
      'step.finished a upstream_failed',
      'step.finished b upstream_failed',
      'run.handling failure exit',
      'step.scheduled handlerOn.failure 1',
    ]);
    run.succeed('handlerOn.failure', 'handlerOn.exit');
    expect(run.ending).toEqual(['failed', 'handler']);
    expect(run.state.message).toBe('handler "handlerOn.init" failed: exit 1');
  });

  test('that was tolerated or skipped lets the steps start', () => {
    const tolerated = { ...settings, handlers: { init: handler('init', { continueOn: tolerant }) } };
    const failing = DrivenRun.started(tolerated);
    failing.fail('handlerOn.init');
    expect(failing.step('a').status).toBe('scheduled');
    const skipping = DrivenRun.started(settings);
    skipping.end('handlerOn.init', skip());
    expect(skipping.step('a').status).toBe('scheduled');
  });

  test('that waits for its retry when the run is stopped does not start again', () => {
    const run = DrivenRun.started({
      ...settings,
      handlers: { init: handler('init', { retry: { limit: 1, intervalMs: 10 } }) },
    });
    run.fail('handlerOn.init');
    run.cancel();
    expect(run.step('handlerOn.init').status).toBe('canceled');
    expect(run.ending).toEqual(['canceled', 'stop']);
  });
});

describe('a run ends as', () => {
  test('succeeded when its steps succeeded', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    expect(run.succeed('a')).toMatchObject([
      { type: 'step.finished', step: 'a' },
      { type: 'run.finished', at: 1000, status: 'succeeded', reason: null, message: '' },
    ]);
  });

  test('succeeded when all its steps were skipped', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    run.end('a', skip());
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('succeeded at once when it has no steps', () => {
    expect(told(DrivenRun.started({}).events)).toEqual(['run.started', 'run.finished succeeded']);
  });

  test('partially_succeeded when all failures were under continueOn.failure', () => {
    const run = DrivenRun.started({ steps: [step('a', { continueOn: tolerant }), step('b')] });
    run.fail('a');
    run.succeed('b');
    expect(run.ending).toEqual(['partially_succeeded', null]);
  });

  test('failed when one failure was not tolerated, naming the step', () => {
    const run = DrivenRun.started({ steps: [step('a', { continueOn: tolerant }), step('b')] });
    run.fail('a');
    run.end('b', failure({ message: 'exit 3' }));
    expect(run.ending).toEqual(['failed', 'step']);
    expect(run.state.message).toBe('step "b" failed: exit 3');
  });

  test('failed with the number of failures, without the steps that did not run because of them', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b'), step('c', { depends: ['b'] })] });
    run.fail('b', 'a');
    expect(run.state.message).toBe('2 steps failed, first "a"');
  });

  test('failed when a step was canceled although the run was not', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    run.end('a', canceled());
    expect(run.ending).toEqual(['failed', 'step']);
    expect(run.state.message).toBe('step "a" was canceled: stopped');
  });

  test('skipped when its precondition is not met: nothing runs, not even handlers', () => {
    const run = new DrivenRun({ steps: [step('a')], handlers });
    expect(run.send({ type: 'refuse', at: 5, reason: 'precondition', message: 'not on Sundays' })).toEqual([
      { type: 'run.finished', at: 5, status: 'skipped', reason: 'precondition', message: 'not on Sundays' },
    ]);
    expect(run.statuses).toEqual({ a: 'pending' });
  });

  test('failed when it cannot be prepared: nothing runs, not even handlers', () => {
    const run = new DrivenRun({ steps: [step('a')], handlers });
    expect(run.send({ type: 'refuse', at: 5, reason: 'error', message: 'env: a dependency cycle' })).toEqual([
      { type: 'run.finished', at: 5, status: 'failed', reason: 'error', message: 'env: a dependency cycle' },
    ]);
  });

  test('its steps determine if the refusal comes too late', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    expect(run.send({ type: 'refuse', at: 5, reason: 'error', message: 'too late' })).toEqual([]);
  });
});

describe('handlers', () => {
  test('run one after another once all steps are settled: the one of the outcome, then exit', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b')], handlers });
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded']);
    expect(run.succeed('b')).toMatchObject([
      { type: 'step.finished', step: 'b' },
      { type: 'run.handling', status: 'succeeded', reason: null, handlers: ['success', 'exit'] },
      { type: 'step.scheduled', step: 'handlerOn.success', attempt: 1 },
    ]);
    expect(run.state.status).toBe('handling');
    run.begin('handlerOn.success');
    expect(run.statuses).toEqual({
      a: 'succeeded',
      b: 'succeeded',
      'handlerOn.success': 'running',
      'handlerOn.exit': 'pending',
    });
    expect(told(run.succeed('handlerOn.success'))).toEqual([
      'step.finished handlerOn.success succeeded',
      'step.scheduled handlerOn.exit 1',
    ]);
    expect(told(run.succeed('handlerOn.exit'))).toEqual([
      'step.finished handlerOn.exit succeeded',
      'run.finished succeeded',
    ]);
  });

  test('of success also follow a partial success, of failure a failure', () => {
    const partial = DrivenRun.started({ steps: [step('a', { continueOn: tolerant })], handlers });
    partial.fail('a');
    expect(partial.state.handling).toMatchObject({ status: 'partially_succeeded', handlers: ['success', 'exit'] });
    const failed = DrivenRun.started({ steps: [step('a')], handlers });
    failed.fail('a');
    expect(failed.state.handling).toMatchObject({ status: 'failed', reason: 'step', handlers: ['failure', 'exit'] });
  });

  test('are listed only if the workflow has them', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers: { failure: handlers.failure, exit: handlers.exit } });
    expect(told(run.succeed('a'))).toEqual([
      'step.finished a succeeded',
      'run.handling exit',
      'step.scheduled handlerOn.exit 1',
    ]);
    const none = DrivenRun.started({ steps: [step('a')], handlers: { failure: handlers.failure } });
    expect(told(none.succeed('a'))).toEqual(['step.finished a succeeded', 'run.finished succeeded']);
  });

  test('obey their own retry policy, but neither the limit nor the delay', () => {
    const run = DrivenRun.started({
      steps: [step('a')],
      handlers: { exit: handler('exit', { retry: { limit: 1, intervalMs: 100 } }) },
      maxActiveSteps: 1,
      delayMs: 10_000,
    });
    run.succeed('a');
    expect(told(run.fail('handlerOn.exit'))).toEqual(['step.waiting handlerOn.exit retry until 1100']);
    expect(told(run.fire('handlerOn.exit'))).toEqual(['step.ready handlerOn.exit', 'step.scheduled handlerOn.exit 2']);
    run.succeed('handlerOn.exit');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('that fail make an otherwise successful run fail, after the exit handler', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers });
    run.succeed('a');
    run.fail('handlerOn.success');
    expect(verdict(run.state).status).toBe('failed');
    run.succeed('handlerOn.exit');
    expect(run.ending).toEqual(['failed', 'handler']);
    expect(run.state.message).toBe('handler "handlerOn.success" failed: exit 1');
  });

  test('that fail leave a failed run its own reason', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers });
    run.fail('a', 'handlerOn.failure', 'handlerOn.exit');
    expect(run.ending).toEqual(['failed', 'step']);
  });

  test('that are skipped, or may fail, change no status', () => {
    const run = DrivenRun.started({
      steps: [step('a')],
      handlers: { success: handlers.success, exit: handler('exit', { continueOn: tolerant }) },
    });
    run.succeed('a');
    run.end('handlerOn.success', skip());
    run.fail('handlerOn.exit');
    expect(run.ending).toEqual(['succeeded', null]);
  });
});
