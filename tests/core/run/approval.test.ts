import { describe, expect, test } from 'vitest';
import { planRetry } from '#core/run/retry.ts';
import { isHeld, stepState } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import type { Approval } from '#core/workflow.ts';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { success } from '../../support/outcome.ts';
import { step } from '../../support/workflow.ts';

const asking: Approval = { prompt: 'sure?', inputs: [], by: [], timeoutMs: 0, onTimeout: 'reject' };
const settings = {
  steps: [step('go', { approval: asking }), step('after', { depends: ['go'] }), step('beside')],
  maxActiveSteps: 1,
};

/** A run whose step has done its work and asks. */
function heldRun(changes: Partial<Approval> = {}, others: Parameters<typeof step>[1] = {}) {
  const go = step('go', { approval: { ...asking, ...changes }, ...others });
  const run = DrivenRun.started({ ...settings, steps: [go, ...settings.steps.slice(1)] });
  run.end('go', success({ SUM: '9' }), 1, { prompt: 'sure of 9?' });
  return run;
}

describe('a step with an approval', () => {
  test('waits after its work, without a place, and the run is held once nothing else is left', () => {
    const run = heldRun();
    expect(told(run.events).slice(-2)).toEqual(['step.held go until null', 'step.scheduled beside 1']);
    expect(run.step('go')).toMatchObject({ status: 'waiting', waitingFor: 'approval', outputs: { SUM: '9' } });
    expect(isHeld(run.state)).toBe(false);
    run.succeed('beside');
    expect([isHeld(run.state), run.step('after').status]).toEqual([true, 'pending']);
    const { waitingFor, steps } = summarize(run.state, () => null);
    expect([waitingFor, steps[0]?.waitingFor, steps[0]?.approval?.prompt]).toEqual([['go'], 'approval', 'sure of 9?']);
  });

  test('succeeds with its inputs when it is approved; a second answer changes nothing', () => {
    const run = heldRun();
    run.succeed('beside');
    expect(told(run.answer('go', 'approved', { WHY: 'x' }))).toEqual([
      'step.answered go approved',
      'step.finished go succeeded',
      'step.scheduled after 1',
    ]);
    expect(run.step('go').outputs).toEqual({ SUM: '9', WHY: 'x' });
    expect(run.answer('go', 'rejected')).toEqual([]);
    run.succeed('after');
    expect(run.ending).toEqual(['succeeded', null]);
    expect(summarize(run.state, () => null).waitingFor).toBeUndefined();
  });

  test('fails when it is rejected, whatever its policies tolerate and retry', () => {
    const run = heldRun({}, { continueOn: { failure: true, skipped: true }, retry: { limit: 3, intervalMs: 0 } });
    run.answer('go', 'rejected');
    expect(run.step('go')).toMatchObject({ status: 'failed', reason: 'rejected', exitCode: null, tolerated: null });
    expect(run.step('go').message).toBe('rejected by ann: a reason');
    expect(run.step('after').status).toBe('upstream_failed');
    run.succeed('beside');
    expect(run.ending).toEqual(['failed', 'step']);
  });

  test.each([
    ['reject', 'failed', 'upstream_failed'],
    ['approve', 'succeeded', 'pending'],
  ] as const)('ends by its time limit: %s', (onTimeout, status, after) => {
    const run = heldRun({ timeoutMs: 500, onTimeout });
    expect(run.step('go').until).toBe(1500);
    run.send({ type: 'timer-fired', at: 1500, step: 'go', attempt: 1 });
    expect([run.step('go').status, run.step('after').status]).toEqual([status, after]);
    expect(run.step('go').approval?.answer).toMatchObject({ by: null, comment: 'not answered within 0.5s' });
  });

  test('is asked after a failure that is tolerated, and stays failed when it is approved', () => {
    const run = DrivenRun.started({
      steps: [
        step('go', { approval: asking, continueOn: { failure: true, skipped: false } }),
        step('after', { depends: ['go'] }),
      ],
    });
    run.fail('go');
    expect(run.step('after').status).toBe('pending');
    run.answer('go', 'approved');
    expect([run.step('go').status, run.step('after').status]).toEqual(['failed', 'scheduled']);
    run.succeed('after');
    expect(run.ending).toEqual(['partially_succeeded', null]);
  });

  test('is canceled by a stop', () => {
    const run = heldRun();
    run.cancel();
    expect(run.step('go')).toMatchObject({ status: 'canceled', message: 'the run was stopped', waitingFor: null });
  });
});

describe('the retry of a run that waited', () => {
  test('keeps the work of the step and asks again', () => {
    const run = heldRun();
    run.succeed('beside');
    run.send({ type: 'lost', at: 2000, message: 'its process died' });
    const plan = planRetry(run.state, { steps: 'unfinished' });
    expect(plan.rerun).toEqual(['go', 'after']);
    const again = new DrivenRun(settings);
    again.start(plan.restored);
    expect(told(again.events)).toEqual(['run.started', 'step.held go until null', 'step.restored beside succeeded']);
    expect(again.step('go')).toMatchObject({ attempt: 0, outputs: { SUM: '9' }, approval: { prompt: 'sure of 9?' } });
    again.answer('go', 'approved');
    expect(again.step('after').status).toBe('scheduled');
  });

  test('asks for the duration that the variable gave', () => {
    const numbers = [{ key: 'approval.timeoutSec', text: '$T' }] as const;
    const go = step('go', { approval: asking, numbers });
    const run = DrivenRun.started({ steps: [go] });
    run.end('go', success(), 1, { prompt: '', numbers: [{ key: 'approval.timeoutSec', value: 0.5 }] });
    const { heldAt = 0, until } = run.step('go').approval ?? {};
    expect(until).toBe(heldAt + 500);
    run.send({ type: 'lost', at: heldAt + 100, message: 'its process died' });
    const { restored } = planRetry(run.state, { steps: 'unfinished' });
    expect(restored).toMatchObject([{ step: 'go', held: '', limitMs: 500 }]);
    const again = new DrivenRun({ steps: [go] });
    again.start(restored);
    const asked = again.step('go').approval;
    again.send({ type: 'timer-fired', at: asked?.until ?? 0, step: 'go', attempt: 0 });
    expect(again.step('go')).toMatchObject({ reason: 'rejected', message: 'rejected: not answered within 0.5s' });
  });

  test('runs the step again if a step before it runs again, or it was rejected', () => {
    const before = { steps: [step('a'), step('go', { approval: asking, depends: ['a'] })] };
    const run = DrivenRun.started(before);
    run.succeed('a', 'go');
    run.cancel();
    const other = planRetry(run.state, { from: 'a' });
    expect(other.restored).toEqual([]);
    const rejected = heldRun();
    rejected.answer('go', 'rejected');
    rejected.succeed('beside');
    expect(planRetry(rejected.state, { steps: 'unfinished' }).restored.map((one) => one.step)).toEqual(['beside']);
    expect(stepState(rejected.state, 'go').reason).toBe('rejected');
  });
});
