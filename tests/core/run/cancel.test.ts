import { describe, expect, test } from 'vitest';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { canceled, failure, success } from '../../support/outcome.ts';
import { handler, step } from '../../support/workflow.ts';

const retry = { limit: 1, intervalMs: 100 };
const handlers = {
  success: handler('success'),
  failure: handler('failure'),
  cancel: handler('cancel'),
  exit: handler('exit'),
};

describe('a stop', () => {
  test('lets running attempts end by themselves and settles all other steps at once', () => {
    const run = DrivenRun.started({
      steps: [
        step('running'),
        step('waiting', { retry }),
        step('scheduled'),
        step('pending', { depends: ['running'] }),
      ],
    });
    run.begin('running');
    run.fail('waiting');
    expect(told(run.cancel())).toEqual([
      'run.canceling',
      'step.finished waiting canceled',
      'step.finished pending canceled',
    ]);
    expect(run.state.status).toBe('canceling');
    expect(run.step('waiting')).toMatchObject({ message: 'the run was stopped', attempt: 1, exitCode: 1 });
    expect(run.step('pending')).toMatchObject({ message: 'the run was stopped', attempt: 0, exitCode: null });
    expect(told(run.end('running', canceled()))).toEqual(['step.finished running canceled']);
    expect(told(run.end('scheduled', canceled()))).toEqual([
      'step.finished scheduled canceled',
      'run.finished canceled stop',
    ]);
    expect(run.step('running')).toMatchObject({ message: 'stopped', exitCode: 143, signal: 'SIGTERM' });
    expect(run.state.message).toBe('because of stop');
  });

  test('starts nothing more: no ready step, no retry, no repetition, no delayed step', () => {
    const run = DrivenRun.started({
      steps: [step('a', { retry }), step('b', { repeat: { intervalMs: 100 } }), step('c')],
      maxActiveSteps: 2,
      delayMs: 10,
    });
    run.endDelay();
    run.cancel();
    expect(told(run.fail('a'))).toEqual(['step.finished a failed']);
    expect(run.endDelay()).toEqual([]);
    expect(told(run.succeed('b'))).toEqual(['step.finished b succeeded', 'run.finished canceled stop']);
    expect(run.statuses).toEqual({ a: 'failed', b: 'succeeded', c: 'canceled' });
  });

  test('settles a step that is ready for its retry but has no place', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry }), step('b')], maxActiveSteps: 1 });
    run.fail('a');
    run.fire('a');
    run.cancel();
    expect(run.statuses).toEqual({ a: 'canceled', b: 'scheduled' });
    expect(told(run.end('b', canceled()))).toEqual(['step.finished b canceled', 'run.finished canceled stop']);
  });

  test('lets a step that waits for its next repetition end as its last one did', () => {
    const repeat = { intervalMs: 100 };
    const continueOn = { failure: true, skipped: false };
    const run = DrivenRun.started({ steps: [step('good', { repeat }), step('bad', { repeat, continueOn })] });
    run.end('good', success({ N: '1' }));
    run.fail('bad');
    run.cancel();
    expect(run.step('good')).toMatchObject({ status: 'succeeded', attempt: 1, exitCode: 0, outputs: { N: '1' } });
    expect(run.step('bad')).toMatchObject({ status: 'failed', reason: 'exit', message: 'exit 1', exitCode: 1 });
    expect(run.ending).toEqual(['canceled', 'stop']);
  });

  test('finishes a run that has not started without handlers, its steps untouched', () => {
    const run = new DrivenRun({ steps: [step('a')], handlers });
    expect(told(run.cancel())).toEqual(['run.finished canceled stop']);
    expect(run.statuses).toEqual({ a: 'pending' });
    expect(run.start()).toEqual([]);
  });

  test('determines the status even if every step still succeeds', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    run.cancel();
    run.succeed('a');
    expect(run.ending).toEqual(['canceled', 'stop']);
  });

  test('is followed by the cancel handler, then exit, with their own retries', () => {
    const run = DrivenRun.started({
      steps: [step('a')],
      handlers: { ...handlers, cancel: handler('cancel', { retry }) },
    });
    run.cancel();
    expect(told(run.end('a', canceled()))).toEqual([
      'step.finished a canceled',
      'run.handling cancel exit',
      'step.scheduled handlerOn.cancel 1',
    ]);
    expect(told(run.fail('handlerOn.cancel'))).toEqual(['step.waiting handlerOn.cancel retry until 1100']);
    run.fire('handlerOn.cancel');
    run.succeed('handlerOn.cancel', 'handlerOn.exit');
    expect(run.ending).toEqual(['canceled', 'stop']);
  });
});

describe('a second cancel', () => {
  test('without force changes nothing: the first reason is kept', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    run.cancel('timeout');
    expect(run.cancel('stop')).toEqual([]);
    expect(run.cancel('timeout')).toEqual([]);
    run.end('a', canceled());
    expect(run.ending).toEqual(['failed', 'timeout']);
  });

  test('with force is recorded once, keeps the first reason and cancels the handlers', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers });
    run.cancel('stop');
    expect(run.cancel('stop', true)).toEqual([
      { type: 'run.canceling', at: 1000, reason: 'stop', message: 'because of stop', force: true },
    ]);
    expect(run.cancel('stop', true)).toEqual([]);
    expect(told(run.end('a', canceled()))).toEqual(['step.finished a canceled', 'run.finished canceled stop']);
  });

  test('by a journal failure takes precedence', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers });
    run.cancel('stop', true);
    expect(told(run.cancel('storage'))).toEqual(['run.canceling']);
    expect(run.cancel('storage')).toEqual([]);
    run.end('a', canceled());
    expect(run.ending).toEqual(['failed', 'storage']);
  });
});

test('a forced stop waits for running attempts only', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })], handlers });
  expect(told(run.cancel('stop', true))).toEqual(['run.canceling', 'step.finished b canceled']);
  expect(told(run.end('a', canceled()))).toEqual(['step.finished a canceled', 'run.finished canceled stop']);
});

test('a timeout fails the run and is followed by the failure handler, then exit', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })], handlers });
  run.cancel('timeout');
  expect(run.step('b')).toMatchObject({ status: 'canceled', message: 'the run timed out' });
  run.end('a', canceled());
  run.succeed('handlerOn.failure', 'handlerOn.exit');
  expect(run.ending).toEqual(['failed', 'timeout']);
  expect(run.state.message).toBe('because of timeout');
});

test('attempts ended by the timeout of the run timed out; those ended by an earlier or later stop were stopped', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b')], handlers });
  run.cancel('timeout');
  run.end('a', canceled());
  expect(run.step('a')).toMatchObject({ status: 'canceled', message: 'timed out', signal: 'SIGTERM' });
  run.end('b', canceled());
  run.cancel('stop');
  run.end('handlerOn.failure', canceled());
  expect(run.step('handlerOn.failure').message).toBe('stopped');

  const stopped = DrivenRun.started({ steps: [step('a')] });
  stopped.cancel('stop');
  stopped.cancel('timeout');
  stopped.end('a', canceled());
  expect(stopped.step('a').message).toBe('stopped');
});

test('a journal that cannot be written fails the run without handlers', () => {
  const run = DrivenRun.started({ steps: [step('a')], handlers });
  run.cancel('storage');
  expect(told(run.end('a', canceled()))).toEqual(['step.finished a canceled', 'run.finished failed storage']);
});

describe('while handlers run', () => {
  /** A run with one succeeded step, in its success handler. */
  const handling = (settings = {}) => {
    const run = DrivenRun.started({
      steps: [step('a')],
      handlers: { ...handlers, success: handler('success', { retry, ...settings }) },
    });
    run.succeed('a');
    return run;
  };

  test('a stop ends the running handler for good, but not the exit handler, and the run is canceled', () => {
    const run = handling();
    expect(told(run.cancel())).toEqual(['run.canceling']);
    expect(run.state.status).toBe('handling');
    expect(told(run.end('handlerOn.success', failure()))).toEqual([
      'step.finished handlerOn.success failed',
      'step.scheduled handlerOn.exit 1',
    ]);
    expect(run.cancel()).toEqual([]);
    expect(told(run.succeed('handlerOn.exit'))).toEqual([
      'step.finished handlerOn.exit succeeded',
      'run.finished canceled stop',
    ]);
  });

  test('a stop settles a handler that waits for its retry and continues with exit', () => {
    const run = handling();
    run.fail('handlerOn.success');
    expect(told(run.cancel())).toEqual([
      'run.canceling',
      'step.finished handlerOn.success canceled',
      'step.scheduled handlerOn.exit 1',
    ]);
  });

  test('a forced stop settles those that have not started', () => {
    const run = handling();
    expect(told(run.cancel('stop', true))).toEqual(['run.canceling', 'step.finished handlerOn.exit canceled']);
    expect(told(run.end('handlerOn.success', canceled()))).toEqual([
      'step.finished handlerOn.success canceled',
      'run.finished canceled stop',
    ]);
  });

  test('a timeout changes nothing', () => {
    const run = handling();
    expect(run.cancel('timeout')).toEqual([]);
    run.succeed('handlerOn.success', 'handlerOn.exit');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('a stop after a timeout ends the failure handler; the timeout stays the reason', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers });
    run.cancel('timeout');
    run.end('a', canceled());
    expect(told(run.cancel('stop'))).toEqual(['run.canceling']);
    expect(run.cancel('stop')).toEqual([]);
    run.end('handlerOn.failure', canceled());
    run.succeed('handlerOn.exit');
    expect(run.ending).toEqual(['failed', 'timeout']);
  });

  test('a journal failure cancels the remaining handlers', () => {
    const run = handling();
    expect(told(run.cancel('storage'))).toEqual(['run.canceling', 'step.finished handlerOn.exit canceled']);
    run.succeed('handlerOn.success');
    expect(run.ending).toEqual(['failed', 'storage']);
  });
});

describe('a run whose process died', () => {
  test('fails with its running steps; nothing more starts', () => {
    const run = DrivenRun.started({
      steps: [step('a'), step('b', { retry }), step('c', { depends: ['a'] }), step('d')],
      handlers,
    });
    run.begin('a');
    run.fail('b');
    expect(told(run.send({ type: 'lost', at: 2000, message: 'its process died' }))).toEqual([
      'step.finished a failed',
      'step.finished d failed',
      'step.finished b canceled',
      'step.finished c canceled',
      'run.finished failed lost',
    ]);
    expect(run.step('a')).toMatchObject({ reason: 'lost', message: 'its process died', finishedAt: 2000 });
    expect(run.step('d').message).toBe('its process died; the step may not have started');
    expect(run.step('c').message).toBe('the run was lost');
    expect(run.state.message).toBe('its process died');
  });

  test('fails also when only handlers were left', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers });
    run.succeed('a');
    run.send({ type: 'lost', at: 2000, message: 'its process died' });
    expect(run.statuses).toEqual({ a: 'succeeded', 'handlerOn.success': 'failed', 'handlerOn.exit': 'canceled' });
    expect(run.ending).toEqual(['failed', 'lost']);
  });

  test('fails with its steps untouched if it had not started', () => {
    const run = new DrivenRun({ steps: [step('a')], handlers });
    expect(told(run.send({ type: 'lost', at: 2000, message: 'its process died' }))).toEqual([
      'run.finished failed lost',
    ]);
  });
});
