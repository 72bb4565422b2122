import { describe, expect, test } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import { planRetry, type RetrySelection } from '#core/run/retry.ts';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { skip, success } from '../../support/outcome.ts';
import { handler, step, type WorkflowSettings, workflow } from '../../support/workflow.ts';

const chain = [step('a'), step('b', { depends: ['a'] }), step('c', { depends: ['b'] }), step('other')];
const unfinished = { steps: 'unfinished' } as const;

/** The run of `chain` in which `b` failed. */
function failedInB(): DrivenRun {
  const run = DrivenRun.started({ steps: chain });
  run.end('a', success({ A: '1' }));
  run.succeed('other');
  run.fail('b');
  return run;
}

/** A new run of the same workflow, started with what the plan keeps. */
function retried(run: DrivenRun, settings: WorkflowSettings, selection: RetrySelection = unfinished): DrivenRun {
  const next = new DrivenRun(settings);
  next.start(planRetry(run.state, selection).restored);
  return next;
}

describe('a retry of what is unfinished', () => {
  test('keeps what succeeded, with its outputs, and runs the rest', () => {
    expect(planRetry(failedInB().state, unfinished)).toEqual({
      restored: [
        { step: 'a', status: 'succeeded', outputs: { A: '1' } },
        { step: 'other', status: 'succeeded', outputs: {} },
      ],
      rerun: ['b', 'c'],
    });
  });

  test('starts with the step that failed', () => {
    const run = retried(failedInB(), { steps: chain });
    expect(told(run.events)).toEqual([
      'run.started',
      'step.restored a succeeded',
      'step.restored other succeeded',
      'step.scheduled b 1',
    ]);
    expect(run.step('a')).toMatchObject({ restored: true, attempt: 0, outputs: { A: '1' }, finishedAt: 1000 });
    run.succeed('b', 'c');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('runs everything after a step that runs again, including steps that succeeded', () => {
    const steps = [step('a', { continueOn: { failure: true, skipped: false } }), step('b', { depends: ['a'] })];
    const run = DrivenRun.started({ steps });
    run.fail('a');
    run.succeed('b');
    expect(planRetry(run.state, unfinished)).toEqual({ restored: [], rerun: ['a', 'b'] });
  });

  test('runs what was canceled or never started', () => {
    const stopped = DrivenRun.started({ steps: chain, maxActiveSteps: 1 });
    stopped.cancel();
    stopped.succeed('a');
    expect(planRetry(stopped.state, unfinished).rerun).toEqual(['b', 'c', 'other']);
    const refused = new DrivenRun({ steps: chain });
    refused.send({ type: 'refuse', at: 1, reason: 'error', message: 'no' });
    expect(planRetry(refused.state, unfinished).rerun).toEqual(['a', 'b', 'c', 'other']);
  });

  test('has nothing to do when all steps succeeded, even if a handler failed', () => {
    const run = DrivenRun.started({ steps: [step('a')], handlers: { exit: handler('exit') } });
    run.succeed('a');
    run.fail('handlerOn.exit');
    expect(planRetry(run.state, unfinished)).toEqual({
      restored: [{ step: 'a', status: 'succeeded', outputs: {} }],
      rerun: [],
    });
  });

  test('keeps a skipped step as skipped', () => {
    const steps = [step('a'), step('b', { depends: ['a'] }), step('c')];
    const run = DrivenRun.started({ steps });
    run.end('a', skip());
    run.fail('c');
    const end = { runId: '', reason: null, exitCode: null, signal: null };
    expect(planRetry(run.state, unfinished)).toEqual({
      restored: [
        { step: 'a', status: 'skipped', outputs: {}, before: { ...end, message: 'precondition not met' } },
        { step: 'b', status: 'skipped', outputs: {}, before: { ...end, message: '"a" was skipped' } },
      ],
      rerun: ['c'],
    });
    const next = retried(run, { steps });
    next.succeed('c');
    expect(next.ending).toEqual(['succeeded', null]);
  });

  test('runs a skipped step again if it holds back a step that is to run', () => {
    const steps = [step('guard'), step('c'), step('d', { depends: ['guard', 'c'] })];
    const run = DrivenRun.started({ steps });
    run.end('guard', skip());
    run.fail('c');
    expect(run.statuses.d).toBe('upstream_failed');
    expect(planRetry(run.state, unfinished).rerun).toEqual(['guard', 'c', 'd']);
  });

  test('keeps a skipped step that lets its dependents run', () => {
    const continueOn = { failure: false, skipped: true };
    const steps = [step('guard', { continueOn }), step('d', { depends: ['guard'] })];
    const run = DrivenRun.started({ steps });
    run.end('guard', skip());
    run.fail('d');
    expect(planRetry(run.state, unfinished).rerun).toEqual(['d']);
    expect(told(retried(run, { steps }).events)).toEqual([
      'run.started',
      'step.restored guard skipped',
      'step.scheduled d 1',
    ]);
  });
});

describe('a retry of one step', () => {
  test('runs it alone, even after a failure that remains', () => {
    const first = failedInB();
    expect(planRetry(first.state, { only: 'c' })).toEqual({
      restored: [
        { step: 'a', status: 'succeeded', outputs: { A: '1' } },
        {
          step: 'b',
          status: 'failed',
          outputs: {},
          before: { runId: '', reason: 'exit', message: 'exit 1', exitCode: 1, signal: null },
        },
        { step: 'other', status: 'succeeded', outputs: {} },
      ],
      rerun: ['c'],
    });
    const run = retried(first, { steps: chain }, { only: 'c' });
    expect(run.statuses).toEqual({ a: 'succeeded', b: 'failed', c: 'scheduled', other: 'succeeded' });
    run.succeed('c');
    expect([...run.ending, run.state.message]).toEqual([
      'failed',
      'step',
      'step "b" did not succeed in an earlier run and was not rerun',
    ]);
  });

  test('succeeds when all kept steps had succeeded', () => {
    const run = retried(failedInB(), { steps: chain }, { from: 'b' });
    run.succeed('b', 'c');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('leaves the run partial when only tolerated failures are kept', () => {
    const steps = [step('a', { continueOn: { failure: true, skipped: false } }), step('b'), step('c')];
    const first = DrivenRun.started({ steps });
    first.fail('a', 'b');
    first.succeed('c');
    const run = retried(first, { steps }, { only: 'b' });
    run.succeed('b');
    expect(run.ending).toEqual(['partially_succeeded', null]);
  });

  test('leaves the run failed while steps held back by the failure remain, and runs the failure handler', () => {
    const run = retried(failedInB(), { steps: chain, handlers: { failure: handler('failure') } }, { only: 'b' });
    run.succeed('b', 'handlerOn.failure');
    expect([...run.ending, run.state.message]).toEqual([
      'failed',
      'step',
      'step "c" did not succeed in an earlier run and was not rerun',
    ]);
  });

  test('keeps how a step ended through a retry of the retry, with the run that has its logs', () => {
    const created = (runId: string) =>
      ({
        type: 'run.created',
        at: 1,
        runId,
        workflow: 'w',
        group: '',
        file: null,
        trigger: 'cli',
        retryOf: null,
        params: [],
      }) as const;
    const first = failedInB();
    first.state = evolve(first.state, created('first'));
    const second = retried(first, { steps: chain }, { only: 'c' });
    second.state = evolve(second.state, created('second'));
    second.fail('c');
    const { restored } = planRetry(second.state, { only: 'a' });
    const end = { reason: 'exit', message: 'exit 1', exitCode: 1, signal: null };
    expect(restored.map((one) => [one.step, 'before' in one ? one.before : undefined])).toEqual([
      ['b', { runId: 'first', ...end }],
      ['c', { runId: 'second', ...end }],
      ['other', undefined],
    ]);
  });

  test('fails the new run when it fails again, whatever else had failed before', () => {
    const run = retried(failedInB(), { steps: chain }, { only: 'c' });
    expect(run.statuses.b).toBe('failed');
    run.fail('c');
    expect(run.ending).toEqual(['failed', 'step']);
    expect(run.state.message).toBe('step "c" failed: exit 1');
  });

  test('leaves the rest for a retry of the retry', () => {
    const run = retried(failedInB(), { steps: chain }, { only: 'b' });
    run.succeed('b');
    expect(planRetry(run.state, unfinished).rerun).toEqual(['c']);
  });

  test('runs a step that succeeded again', () => {
    expect(planRetry(failedInB().state, { only: 'a' }).rerun).toEqual(['a']);
  });
});

describe('a retry from a step', () => {
  test('runs it and everything after it', () => {
    expect(planRetry(failedInB().state, { from: 'a' })).toEqual({
      restored: [{ step: 'other', status: 'succeeded', outputs: {} }],
      rerun: ['a', 'b', 'c'],
    });
  });

  test('keeps steps that were never reached as canceled, which hold nothing back', () => {
    const steps = [step('a'), step('b'), step('join', { depends: ['a', 'b'] })];
    const refused = new DrivenRun({ steps });
    refused.send({ type: 'refuse', at: 1, reason: 'error', message: 'no' });
    const run = retried(refused, { steps }, { from: 'a' });
    expect(run.statuses).toEqual({ a: 'scheduled', b: 'canceled', join: 'pending' });
    run.succeed('a', 'join');
    expect(run.ending).toEqual(['failed', 'step']);
  });
});

describe('a retry with another workflow', () => {
  const changed = buildGraph(workflow({ steps: [step('new'), step('a', { depends: ['new'] }), step('other')] }));

  test('matches steps by name: new ones run, and so do their dependents', () => {
    expect(planRetry(failedInB().state, unfinished, changed)).toEqual({
      restored: [{ step: 'other', status: 'succeeded', outputs: {} }],
      rerun: ['new', 'a'],
    });
  });

  test('requires the selected step to exist', () => {
    expect(() => planRetry(failedInB().state, { only: 'b' }, changed)).toThrow('The workflow has no step "b".');
  });
});
