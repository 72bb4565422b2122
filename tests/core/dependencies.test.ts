import { describe, expect, test } from 'vitest';
import { DrivenRun, told } from '../support/driven-run.ts';
import { canceled, failure, skip, success } from '../support/outcome.ts';
import { step } from '../support/workflow.ts';

describe('a step starts', () => {
  test('once every step it depends on has succeeded, not before', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b'), step('join', { depends: ['a', 'b'] })] });
    expect(told(run.events)).toEqual(['run.started', 'step.scheduled a 1', 'step.scheduled b 1']);
    expect(told(run.succeed('b'))).toEqual(['step.finished b succeeded']);
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded', 'step.scheduled join 1']);
  });

  test('after a step that failed under its own continueOn.failure', () => {
    const steps = [step('a', { continueOn: { failure: true, skipped: false } }), step('b', { depends: ['a'] })];
    const run = DrivenRun.started({ steps });
    expect(told(run.fail('a'))).toEqual(['step.finished a failed', 'step.scheduled b 1']);
  });

  test('after a step that was skipped under its own continueOn.skipped', () => {
    const steps = [step('a', { continueOn: { failure: false, skipped: true } }), step('b', { depends: ['a'] })];
    const run = DrivenRun.started({ steps });
    expect(told(run.end('a', skip()))).toEqual(['step.finished a skipped', 'step.scheduled b 1']);
  });

  test('in the order of the file, whatever the order in which steps become ready', () => {
    const steps = [step('z'), step('m', { depends: ['a'] }), step('a'), step('k', { depends: ['z'] })];
    const run = DrivenRun.started({ steps, maxActiveSteps: 2 });
    expect(told(run.succeed('z', 'a'))).toEqual([
      'step.finished z succeeded',
      'step.scheduled k 1',
      'step.finished a succeeded',
      'step.scheduled m 1',
    ]);
    expect(DrivenRun.started({ steps: steps.toReversed().map(({ name }) => step(name)) }).events).toMatchObject([
      { type: 'run.started' },
      { type: 'step.scheduled', step: 'k' },
      { type: 'step.scheduled', step: 'a' },
      { type: 'step.scheduled', step: 'm' },
      { type: 'step.scheduled', step: 'z' },
    ]);
  });
});

describe('a step does not start', () => {
  test('after a failure: it and all later steps are settled at once, naming the step that failed', () => {
    const run = DrivenRun.started({
      steps: [step('a'), step('b', { depends: ['a'] }), step('c', { depends: ['b'] }), step('other')],
    });
    const nothing = { attempt: 0, reason: null, exitCode: null, signal: null, outputs: {} };
    expect(run.end('a', failure({ message: 'exit 3', exitCode: 3 }))).toEqual([
      {
        type: 'step.finished',
        at: 1000,
        step: 'a',
        attempt: 1,
        status: 'failed',
        reason: 'exit',
        message: 'exit 3',
        exitCode: 3,
        signal: null,
        outputs: {},
      },
      { ...nothing, type: 'step.finished', at: 1000, step: 'b', status: 'upstream_failed', message: '"a" failed' },
      { ...nothing, type: 'step.finished', at: 1000, step: 'c', status: 'upstream_failed', message: '"a" failed' },
    ]);
    expect(run.statuses.other).toBe('scheduled');
  });

  test('after a skip without continueOn.skipped: it is skipped too, and so are its dependents', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] }), step('c', { depends: ['b'] })] });
    run.end('a', skip('not on Sundays'));
    expect(run.statuses).toEqual({ a: 'skipped', b: 'skipped', c: 'skipped' });
    expect(run.step('a').message).toBe('not on Sundays');
    expect(run.step('b').message).toBe('"a" was skipped');
    expect(run.step('c').message).toBe('"b" was skipped');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('after a canceled step, even under continueOn', () => {
    const continueOn = { failure: true, skipped: true };
    const run = DrivenRun.started({ steps: [step('a', { continueOn }), step('b', { depends: ['a'] })] });
    run.end('a', canceled());
    expect(run.statuses).toEqual({ a: 'canceled', b: 'upstream_failed' });
    expect(run.step('b').message).toBe('"a" was canceled');
    expect(run.ending).toEqual(['failed', 'step']);
  });

  test('after an upstream failure, whatever the continueOn of that step', () => {
    const continueOn = { failure: true, skipped: true };
    const run = DrivenRun.started({
      steps: [step('a'), step('b', { depends: ['a'], continueOn }), step('c', { depends: ['b'] })],
    });
    run.fail('a');
    expect(run.statuses).toEqual({ a: 'failed', b: 'upstream_failed', c: 'upstream_failed' });
  });

  test('before all its dependencies are settled, even when one has already failed', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b'), step('join', { depends: ['a', 'b'] })] });
    run.fail('b');
    expect(run.statuses.join).toBe('pending');
    run.succeed('a');
    expect(run.statuses.join).toBe('upstream_failed');
  });
});

describe('a common dependent', () => {
  const steps = [step('a'), step('b'), step('c'), step('join', { depends: ['a', 'b', 'c'] })];
  const outcomes = { a: skip(), b: failure(), c: success() } as const;
  const orders = ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'];

  test.each(orders)(
    'is settled once and with the same result when its dependencies settle in the order %s',
    (order) => {
      const run = DrivenRun.started({ steps });
      for (const name of order) run.end(name, outcomes[name as keyof typeof outcomes]);
      const settled = run.events.filter((event) => event.type === 'step.finished' && event.step === 'join');
      expect(settled).toMatchObject([{ status: 'upstream_failed', message: '"b" failed' }]);
    },
  );

  test('of two failures names the first in the order of its depends', () => {
    const run = DrivenRun.started({ steps });
    run.fail('c', 'a');
    run.succeed('b');
    expect(run.step('join').message).toBe('"a" failed');
  });
});
