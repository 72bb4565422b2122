import { describe, expect, test } from 'vitest';
import { summarizeStep } from '#core/summary/summarize.ts';
import type { Tolerance } from '#core/workflow.ts';
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

  test('applies the retry policy first, in each repetition', () => {
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

describe('the waits of a policy', () => {
  test('grow by a factor up to a limit, and start again with each repetition', () => {
    const policy = { limit: 3, intervalMs: 100, backoff: 2, maxIntervalMs: 300 };
    const run = DrivenRun.started({ steps: [step('a', { retry: policy, repeat: { intervalMs: 50, backoff: 3 } })] });
    const waits = [run.fail('a'), run.fire('a'), run.fail('a'), run.fire('a'), run.fail('a'), run.fire('a')];
    expect(waits.flatMap(told).filter((text) => text.includes('until'))).toEqual([
      'step.waiting a retry until 1100',
      'step.waiting a retry until 1200',
      'step.waiting a retry until 1300',
    ]);
    expect(told(run.succeed('a'))).toEqual(['step.waiting a repeat until 1050']);
    run.fire('a');
    expect(told(run.fail('a'))).toEqual(['step.waiting a retry until 1100']);
    run.fire('a');
    expect(told(run.succeed('a'))).toEqual(['step.waiting a repeat until 1150']);
  });

  test('are shortened by a random part of the jitter', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry: { ...retry, jitter: 0.5 } })] });
    expect(told(run.end('a', failure(), 1, { random: 0.8 }))).toEqual(['step.waiting a retry until 1060']);
  });
});

describe('the exit codes of a retry policy', () => {
  test.each([
    ['an exit code of the list', failure({ exitCode: 75 }), 'waiting'],
    ['another exit code', failure({ exitCode: 1 }), 'failed'],
    ['a timeout, as 124', failure({ reason: 'timeout', exitCode: 143 }), 'waiting'],
    ['a signal, as 128 and its number', failure({ reason: 'signal', exitCode: 137 }), 'waiting'],
    ['an error before the program', failure({ reason: 'error', exitCode: null }), 'failed'],
  ])('decide after %s', (_, outcome, status) => {
    const run = DrivenRun.started({ steps: [step('a', { retry: { ...retry, exitCodes: [75, 124, 137] } })] });
    run.end('a', outcome);
    expect(run.step('a').status).toBe(status);
  });

  test('are needed for a code that continueOn tolerates', () => {
    const continueOn = { failure: false, skipped: false, exitCodes: [3] };
    const run = DrivenRun.started({
      steps: [step('a', { retry, continueOn }), step('b', { retry: { ...retry, exitCodes: [3] }, continueOn })],
    });
    run.end('a', failure({ exitCode: 3 }));
    run.end('b', failure({ exitCode: 3 }));
    expect(run.statuses).toEqual({ a: 'failed', b: 'waiting' });
  });
});

describe('repetitions with a condition', () => {
  const condition = { condition: 'test -f done', expected: null };

  test('continue while the condition is met, whatever the exit code', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat: { intervalMs: 0, mode: 'while', condition } })] });
    expect(told(run.end('a', failure(), 1, { conditionMet: true }))).toEqual(['step.waiting a repeat until 1000']);
    run.fire('a');
    run.end('a', success(), 2, { conditionMet: false });
    expect(run.step('a')).toMatchObject({ status: 'succeeded', attempt: 2 });
  });

  test('end as the last repetition once the condition is met', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat: { intervalMs: 0, mode: 'until', condition } })] });
    run.end('a', success(), 1, { conditionMet: false });
    run.fire('a');
    run.end('a', failure(), 2, { conditionMet: true });
    expect(run.step('a')).toMatchObject({ status: 'failed', message: 'exit 1' });
  });

  test('fail if the condition is not met within the limit', () => {
    const repeat = { intervalMs: 0, mode: 'until' as const, condition, limit: 2 };
    const run = DrivenRun.started({ steps: [step('a', { repeat })] });
    run.end('a', success({ S: 'x' }), 1, { conditionMet: false });
    run.fire('a');
    run.end('a', success({ S: 'y' }), 2, { conditionMet: false });
    const message = 'the condition of "repeatPolicy" was not met after 2 repetitions';
    expect(run.step('a')).toMatchObject({ status: 'failed', reason: 'error', message, outputs: { S: 'y' } });
  });

  test('can be decided by the exit code', () => {
    const run = DrivenRun.started({ steps: [step('a', { repeat: { intervalMs: 0, mode: 'while', exitCodes: [3] } })] });
    run.end('a', failure({ exitCode: 3 }));
    expect(run.step('a').status).toBe('waiting');
    run.fire('a');
    run.end('a', failure({ exitCode: 4 }));
    expect(run.step('a').status).toBe('failed');
  });

  test('count the retries of each repetition separately, and decide only after them', () => {
    const repeat = { intervalMs: 0, mode: 'until' as const, condition, limit: 2 };
    const run = DrivenRun.started({ steps: [step('a', { repeat, retry: { limit: 1, intervalMs: 0 } })] });
    run.fail('a');
    run.fire('a');
    expect(told(run.end('a', failure(), 2, { conditionMet: false }))).toEqual(['step.waiting a repeat until 1000']);
    run.fire('a');
    expect(told(run.fail('a'))).toEqual(['step.waiting a retry until 1000']);
    expect(summarizeStep(run.state, run.step('a'), () => null)).toMatchObject({ attempts: 3, repetitions: 2 });
  });
});

describe('continueOn', () => {
  const tolerant = (settings: Partial<Tolerance>) =>
    DrivenRun.started({
      steps: [
        step('a', { continueOn: { failure: false, skipped: false, ...settings } }),
        step('b', { depends: ['a'] }),
      ],
    });

  test('tolerates failures with an exit code', () => {
    const run = tolerant({ exitCodes: [3] });
    run.end('a', failure({ exitCode: 3 }));
    expect(run.step('a')).toMatchObject({ status: 'failed', tolerated: 'exitCode' });
    run.succeed('b');
    expect(run.ending).toEqual(['partially_succeeded', null]);
  });

  test('tolerates failures whose output matches', () => {
    const run = tolerant({ output: ['nothing to do'] });
    run.end('a', failure(), 1, { outputMatched: true });
    expect(run.statuses).toEqual({ a: 'failed', b: 'scheduled' });
  });

  test('does not tolerate other failures', () => {
    const run = tolerant({ exitCodes: [3], output: ['nothing to do'] });
    run.end('a', failure(), 1, { outputMatched: false });
    expect(run.ending).toEqual(['failed', 'step']);
  });

  test('makes a tolerated failure a success that keeps its exit code, also if the run is strict', () => {
    const run = tolerant({ exitCodes: [3], markSuccess: true });
    run.end('a', failure({ exitCode: 3 }));
    run.succeed('b');
    expect(run.step('a')).toMatchObject({ status: 'succeeded', exitCode: 3, message: '', reason: null });
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('keeps what tolerated the repetition that a stop makes the last one', () => {
    const continueOn = { failure: false, skipped: false, exitCodes: [3], markSuccess: true as const };
    const run = DrivenRun.started({ steps: [step('a', { continueOn, repeat: { intervalMs: 500 } })] });
    run.end('a', failure({ exitCode: 3 }));
    run.cancel();
    expect(run.step('a')).toMatchObject({ status: 'succeeded', tolerated: 'exitCode' });
  });
});
