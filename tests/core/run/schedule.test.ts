import { describe, expect, test } from 'vitest';
import type { Step } from '#core/workflow.ts';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { step, type WorkflowSettings } from '../../support/workflow.ts';

const retry = { limit: 1, intervalMs: 100 };

describe('maxActiveSteps', () => {
  test('holds ready steps back until a place is free', () => {
    const run = DrivenRun.started({ steps: ['a', 'b', 'c', 'd'].map((name) => step(name)), maxActiveSteps: 2 });
    expect(run.statuses).toEqual({ a: 'scheduled', b: 'scheduled', c: 'pending', d: 'pending' });
    run.begin('a');
    expect(run.statuses.c).toBe('pending');
    expect(told(run.succeed('b'))).toEqual(['step.finished b succeeded', 'step.scheduled c 1']);
  });

  test('0 is no limit', () => {
    const run = DrivenRun.started({ steps: Array.from({ length: 50 }, (_, number) => step(`s${number}`)) });
    expect(run.state.active).toBe(50);
  });

  test('a step that waits for its retry frees its place', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry }), step('b')], maxActiveSteps: 1 });
    expect(told(run.fail('a'))).toEqual(['step.waiting a retry until 1100', 'step.scheduled b 1']);
  });

  test('a fired timer only makes its step ready: it waits for a place like any other', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry }), step('b'), step('c')], maxActiveSteps: 1 });
    run.fail('a');
    expect(told(run.fire('a'))).toEqual(['step.ready a']);
    expect(run.state.active).toBe(1);
    expect(told(run.succeed('b'))).toEqual(['step.finished b succeeded', 'step.scheduled a 2']);
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded', 'step.scheduled c 1']);
  });
});

describe('steps ahead of the limit', () => {
  const names = ['a', 'b', 'c', 'd'];
  const begun = (changes: Record<string, Partial<Step>> = {}, settings: WorkflowSettings = {}) => {
    const run = new DrivenRun({
      steps: names.map((name) => step(name, changes[name])),
      maxActiveSteps: 1,
      ...settings,
    });
    run.ahead = 2;
    run.start();
    return run;
  };

  test('start if they are programs, as many as may', () => {
    const run = begun();
    expect(run.started).toEqual(['a', 'b', 'c']);
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded', 'step.scheduled d 1']);
  });

  test('do not start if none may, until the next place is free', () => {
    const run = begun();
    run.ahead = 0;
    run.succeed('a', 'b');
    expect(run.started).toEqual(['a', 'b', 'c']);
    expect(told(run.succeed('c'))).toEqual(['step.finished c succeeded', 'step.scheduled d 1']);
  });

  test('do not start during a delay', () => {
    expect(begun({}, { delayMs: 50 }).started).toEqual(['a']);
  });

  test.each<[string, Partial<Step>]>([
    ['another executor', { executor: { type: 'http', config: {} } }],
    ['a precondition', { preconditions: [{ condition: 'a', expected: 'a' }] }],
    ['an output', { output: 'A' }],
    ['variables', { env: [{ name: 'A', value: 'x' }] }],
    ['a copy of its output', { stdout: 'copy.txt' }],
  ])('neither overtake a step that is no single program nor start behind one: %s', (_name, settings) => {
    expect(begun({ b: settings }).started).toEqual(['a']);
    expect(begun({ a: settings }).started).toEqual(['a']);
  });
});

describe('delayMs', () => {
  const steps = ['a', 'b', 'c'].map((name) => step(name));

  test('keeps the starts apart, with one timer at a time', () => {
    const run = DrivenRun.started({ steps, delayMs: 50 });
    expect(told(run.events)).toEqual(['run.started', 'step.scheduled a 1', 'run.delayed until 1050']);
    run.now = 1010;
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded']);
    run.now = 1050;
    expect(told(run.endDelay())).toEqual(['step.scheduled b 1', 'run.delayed until 1100']);
    run.now = 1100;
    expect(told(run.endDelay())).toEqual(['step.scheduled c 1']);
  });

  test('counts from the last start: a step that becomes ready later starts at once', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })], delayMs: 50 });
    run.now = 1050;
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded', 'step.scheduled b 1']);
  });

  test('holds back a step that becomes ready too soon', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })], delayMs: 50 });
    run.now = 1020;
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded', 'run.delayed until 1050']);
  });

  test('holds back a retry too', () => {
    const run = DrivenRun.started({ steps: [step('a', { retry: { limit: 1, intervalMs: 0 } })], delayMs: 50 });
    run.fail('a');
    expect(told(run.fire('a'))).toEqual(['step.ready a', 'run.delayed until 1050']);
    expect(told(run.endDelay())).toEqual(['step.scheduled a 2']);
  });

  test('does not exceed the limit when it ends', () => {
    const run = DrivenRun.started({ steps, delayMs: 50, maxActiveSteps: 1 });
    expect(told(run.events)).toEqual(['run.started', 'step.scheduled a 1']);
    run.succeed('a');
    expect(told(run.endDelay())).toEqual(['step.scheduled b 1']);
    expect(run.statuses.c).toBe('pending');
  });

  test('trusts its timer, which may fire a millisecond early', () => {
    const run = DrivenRun.started({ steps, delayMs: 50 });
    run.now = 1049;
    expect(told(run.endDelay())).toEqual(['step.scheduled b 1', 'run.delayed until 1099']);
  });

  test('waits no longer than one delay when the clock was set back', () => {
    const run = DrivenRun.started({ steps: [step('a'), step('b', { depends: ['a'] })], delayMs: 50 });
    run.now = 10;
    expect(told(run.succeed('a'))).toEqual(['step.finished a succeeded', 'run.delayed until 60']);
  });

  test('the end of a delay that no step waits for changes nothing', () => {
    const run = DrivenRun.started({ steps: [step('a')], delayMs: 50 });
    expect(run.endDelay()).toEqual([]);
  });
});
