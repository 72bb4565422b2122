import { expect, test } from 'vitest';
import type { RunState } from '#core/run/run-state.ts';
import { DrivenRun } from '../support/driven-run.ts';
import { handler, step, type WorkflowSettings } from '../support/workflow.ts';

const handlers = { success: handler('success'), failure: handler('failure'), cancel: null, exit: null };
const tolerant: WorkflowSettings = {
  steps: [step('a', { continueOn: { failure: true, skipped: false } }), step('b', { depends: ['a'] })],
  handlers,
};

/** A run that was created with or without `strict`. */
function started(settings: WorkflowSettings, strict: boolean): DrivenRun {
  const run = new DrivenRun(settings);
  run.state = { ...run.state, strict } satisfies RunState;
  run.start();
  return run;
}

test('a tolerated failure fails a strict run, after its other steps and its failure handler', () => {
  const run = started(tolerant, true);
  run.fail('a');
  run.succeed('b', 'handlerOn.failure');
  expect(run.ending).toEqual(['failed', 'step']);
  expect(run.state.message).toMatch(/^step "a" failed/);
});

test('a tolerated failure leaves a run that is not strict partially succeeded', () => {
  const run = started(tolerant, false);
  run.fail('a');
  run.succeed('b', 'handlerOn.success');
  expect(run.ending).toEqual(['partially_succeeded', null]);
});

test('a strict run without failures succeeds, and a failed one once its failure is marked as succeeded', () => {
  const good = started(tolerant, true);
  good.succeed('a', 'b', 'handlerOn.success');
  expect(good.ending).toEqual(['succeeded', null]);

  const bad = started({ steps: [step('a', { continueOn: { failure: true, skipped: false } })] }, true);
  bad.fail('a');
  bad.send({ type: 'mark', at: bad.now, step: 'a', status: 'succeeded', by: 'test' });
  expect(bad.state.status).toBe('succeeded');
});
