import { describe, expect, test } from 'vitest';
import { DrivenRun, told } from '../support/driven-run.ts';
import { failure, success } from '../support/outcome.ts';
import { step } from '../support/workflow.ts';

/** A run whose only step is in its second attempt. */
function inSecondAttempt(): DrivenRun {
  const run = DrivenRun.started({ steps: [step('a', { retry: { limit: 3, intervalMs: 100 } })] });
  run.begin('a');
  run.fail('a');
  run.fire('a');
  run.begin('a');
  return run;
}

test('a report before the start of the run starts nothing', () => {
  const run = new DrivenRun({ steps: [step('a')] });
  expect(run.begin('a', 1)).toEqual([]);
  expect(run.end('a', success(), 1)).toEqual([]);
  expect(run.fire('a')).toEqual([]);
  expect(run.endDelay()).toEqual([]);
  expect(run.statuses).toEqual({ a: 'pending' });
});

describe('a late report changes nothing', () => {
  test('the end of the first attempt during the second', () => {
    const run = inSecondAttempt();
    const before = run.state;
    expect(run.end('a', success(), 1)).toEqual([]);
    expect(run.end('a', failure(), 1)).toEqual([]);
    expect(run.state).toBe(before);
  });

  test('the start of the first attempt when the second is about to start', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry: { limit: 1, intervalMs: 100 } })] });
    run.fail('a');
    run.fire('a');
    expect(run.begin('a', 1)).toEqual([]);
    expect(run.statuses).toEqual({ a: 'scheduled' });
  });

  test('the timer of the first attempt while the second one waits', () => {
    const run = inSecondAttempt();
    run.fail('a');
    expect(run.fire('a', 1)).toEqual([]);
    expect(told(run.fire('a', 2))).toEqual(['step.ready a', 'step.scheduled a 3']);
  });

  test('anything after the end of the run', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    run.succeed('a');
    const over = run.state;
    run.end('a', failure());
    run.begin('a');
    run.fire('a');
    run.endDelay();
    run.start();
    run.cancel();
    run.cancel('storage', true);
    run.send({ type: 'refuse', at: 1000, reason: 'error', message: 'too late' });
    run.send({ type: 'lost', at: 1000, message: 'too late' });
    expect(run.state).toBe(over);
  });
});

describe('a repeated report changes nothing', () => {
  test('the start of an attempt', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    expect(told(run.begin('a'))).toEqual(['step.started a 1']);
    expect(run.begin('a')).toEqual([]);
  });

  test('the end of an attempt', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b')] });
    run.succeed('a');
    expect(run.end('a', failure())).toEqual([]);
    expect(run.step('a').status).toBe('succeeded');
  });

  test('a timer', () => {
    const run = DrivenRun.started({
      steps: [step('a', { retry: { limit: 1, intervalMs: 0 } }), step('b')],
      maxActiveSteps: 1,
    });
    run.fail('a');
    expect(told(run.fire('a'))).toEqual(['step.ready a']);
    expect(run.fire('a')).toEqual([]);
  });

  test('the start of the run', () => {
    const run = DrivenRun.started({ steps: [step('a')] });
    expect(run.start()).toEqual([]);
  });
});

test('an attempt may end without having started', () => {
  const run = DrivenRun.started({ steps: [step('a')] });
  run.end('a', failure({ reason: 'error', message: 'no such program', exitCode: 127 }));
  expect(run.step('a')).toMatchObject({ status: 'failed', startedAt: null, finishedAt: 1000, exitCode: 127 });
});

test('a report about a step that does not exist throws', () => {
  const run = DrivenRun.started({ steps: [step('a')] });
  expect(() => run.end('b', success(), 1)).toThrow('The workflow has no step "b".');
});

test('a step keeps the time of its first start and the process of its present attempt', () => {
  const run = DrivenRun.started({ steps: [step('a', { retry: { limit: 1, intervalMs: 100 } })] });
  const process = { pid: 42, startTime: 7, boot: 'b' };
  run.send({ type: 'attempt-started', at: 1001, step: 'a', attempt: 1, process });
  expect(run.step('a')).toMatchObject({ status: 'running', startedAt: 1001, process });
  run.fail('a');
  expect(run.step('a').process).toBeNull();
  run.fire('a');
  run.send({ type: 'attempt-started', at: 1200, step: 'a', attempt: 2, process });
  expect(run.step('a')).toMatchObject({ startedAt: 1001, process });
});
