import { describe, expect, test } from 'vitest';
import { DrivenRun, told } from '../support/driven-run.ts';
import { canceled, failure, skip, success } from '../support/outcome.ts';
import { step } from '../support/workflow.ts';

const retry = { limit: 2, intervalMs: 100 };

describe('retryPolicy', () => {
  test('makes `limit` further attempts, each `intervalMs` after the end of the one before', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry })] });
    expect(run.end('a', failure())).toEqual([
      { type: 'step.waiting', at: 1000, step: 'a', attempt: 1, why: 'retry', until: 1100, outcome: failure() },
    ]);
    run.now = 1100;
    expect(told(run.fire('a'))).toEqual(['step.ready a', 'step.scheduled a 2']);
    expect(told(run.fail('a'))).toEqual(['step.waiting a retry until 1200']);
    run.fire('a');
    expect(told(run.fail('a'))).toEqual(['step.finished a failed', 'run.finished failed step']);
    expect(run.step('a')).toMatchObject({ attempt: 3, status: 'failed', reason: 'exit', exitCode: 1 });
  });

  test('ends with the first success, which clears the failures', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry })] });
    run.end('a', failure({ outputs: { OUT: 'half' } }));
    run.fire('a');
    run.end('a', success({ OUT: 'whole' }));
    expect(run.step('a')).toMatchObject({
      status: 'succeeded',
      attempt: 2,
      reason: null,
      message: '',
      exitCode: 0,
      outputs: { OUT: 'whole' },
    });
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('describes the failed attempt while the step waits', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry })] });
    run.end('a', failure({ reason: 'signal', message: 'killed by SIGSEGV', exitCode: 139, signal: 'SIGSEGV' }));
    expect(run.step('a')).toMatchObject({
      status: 'waiting',
      waitingFor: 'retry',
      until: 1100,
      reason: 'signal',
      message: 'killed by SIGSEGV',
      exitCode: 139,
      signal: 'SIGSEGV',
    });
  });

  test.each([['skipped', skip()] as const, ['canceled', canceled()] as const])(
    'is for failures: %s is final',
    (status, outcome) => {
      const run = DrivenRun.started({ steps: [step('a', { retry })] });
      run.end('a', outcome);
      expect(run.step('a')).toMatchObject({ status, attempt: 1 });
    },
  );

  test('comes before continueOn.failure', () => {
    const continueOn = { failure: true, skipped: false };
    const run = DrivenRun.started({ steps: [step('a', { retry, continueOn }), step('b', { depends: ['a'] })] });
    run.fail('a');
    expect(run.statuses).toEqual({ a: 'waiting', b: 'pending' });
  });
});

describe('repeatPolicy', () => {
  const repeat = { intervalMs: 500 };

  test('repeats after a success, and keeps the outputs of the last repetition', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat })] });
    expect(told(run.end('a', success({ N: '1' })))).toEqual(['step.waiting a repeat until 1500']);
    expect(run.step('a')).toMatchObject({ waitingFor: 'repeat', outputs: { N: '1' } });
    expect(told(run.fire('a'))).toEqual(['step.ready a', 'step.scheduled a 2']);
    expect(run.step('a').outputs).toEqual({ N: '1' });
    run.end('a', success({ N: '2' }));
    expect(run.step('a').outputs).toEqual({ N: '2' });
  });

  test('ends with the first repetition that fails', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat })] });
    run.succeed('a');
    run.fire('a');
    run.fail('a');
    expect(run.step('a')).toMatchObject({ status: 'failed', attempt: 2 });
    expect(run.ending).toEqual(['failed', 'step']);
  });

  test('applies the retry policy first, anew for each repetition', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat, retry: { limit: 1, intervalMs: 100 } })] });
    expect(told(run.fail('a'))).toEqual(['step.waiting a retry until 1100']);
    run.fire('a');
    expect(told(run.succeed('a'))).toEqual(['step.waiting a repeat until 1500']);
    run.fire('a');
    expect(told(run.fail('a'))).toEqual(['step.waiting a retry until 1100']);
    run.fire('a');
    expect(told(run.fail('a'))).toEqual(['step.finished a failed', 'run.finished failed step']);
  });

  test('continues after failures under continueOn.failure', () => {
    const continueOn = { failure: true, skipped: false };
    const run = DrivenRun.started({ steps: [step('a', { repeat, continueOn })] });
    expect(told(run.fail('a'))).toEqual(['step.waiting a repeat until 1500']);
    expect(run.step('a')).toMatchObject({ status: 'waiting', reason: 'exit', message: 'exit 1' });
  });

  test('ends when the precondition of a repetition is not met', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat })] });
    run.end('a', success({ N: '1' }));
    run.fire('a');
    run.end('a', skip());
    expect(run.step('a')).toMatchObject({ status: 'skipped', attempt: 2, outputs: { N: '1' } });
  });
});
