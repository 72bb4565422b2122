import { expect, test } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import { planRetry } from '#core/run/retry.ts';
import type { MarkedStatus } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { DrivenRun } from '../../support/driven-run.ts';
import fc from '../../support/fast-check.ts';
import { failure, skip, success } from '../../support/outcome.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

const chain = { steps: [step('a'), step('b', { depends: ['a'] }), step('c', { depends: ['b'] })] };

function mark(run: DrivenRun, name: string, status: MarkedStatus) {
  return run.send({ type: 'mark', at: 9000, step: name, status, by: 'ann' });
}

/** A chain of three steps whose first has failed. */
function failedRun(): DrivenRun {
  const run = DrivenRun.started(chain);
  run.end('a', failure({ message: 'exit 3' }));
  return run;
}

test('marking a failed step as succeeded leaves its dependents not run', () => {
  const run = failedRun();
  expect(mark(run, 'a', 'succeeded')).toEqual([
    {
      type: 'step.marked',
      at: 9000,
      step: 'a',
      status: 'succeeded',
      by: 'ann',
      run: { status: 'failed', reason: 'step', message: '2 steps were not run' },
    },
  ]);
  expect(run.statuses).toEqual({ a: 'succeeded', b: 'upstream_failed', c: 'upstream_failed' });
  expect(planRetry(run.state, { steps: 'unfinished' })).toMatchObject({
    restored: [{ step: 'a', status: 'succeeded' }],
    rerun: ['b', 'c'],
  });
});

test('a run succeeds when every step is done', () => {
  const run = failedRun();
  const endedAt = run.state.finishedAt;
  for (const name of ['a', 'b', 'c']) mark(run, name, 'succeeded');
  expect([...run.ending, run.state.message, run.state.finishedAt]).toEqual(['succeeded', null, '', endedAt]);
  expect(planRetry(run.state, { steps: 'unfinished' }).rerun).toEqual([]);
});

test('a step marked as failed fails the run and is run again with everything after it', () => {
  const run = DrivenRun.started(chain);
  run.succeed('a', 'b', 'c');
  mark(run, 'b', 'failed');
  expect([...run.ending, run.state.message]).toEqual(['failed', 'step', 'step "b" failed: marked as failed by ann']);
  expect(planRetry(run.state, { steps: 'unfinished' }).rerun).toEqual(['b', 'c']);
});

test('a failure that would be tolerated is tolerated when marked too', () => {
  const run = DrivenRun.started({ steps: [step('a', { continueOn: { failure: true, skipped: false } }), step('b')] });
  run.succeed('a', 'b');
  mark(run, 'a', 'failed');
  expect(run.ending).toEqual(['partially_succeeded', null]);
  mark(run, 'a', 'succeeded');
  expect(run.ending).toEqual(['succeeded', null]);
});

test('a stopped run stays stopped while any step is not done', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b')] });
  run.succeed('a');
  run.cancel();
  run.end('b', failure());
  expect(run.ending).toEqual(['canceled', 'stop']);
  mark(run, 'a', 'failed');
  expect(run.ending).toEqual(['canceled', 'stop']);
  mark(run, 'a', 'succeeded');
  mark(run, 'b', 'succeeded');
  expect(run.ending).toEqual(['succeeded', null]);
});

test('a failed handler still counts', () => {
  const run = DrivenRun.started({ steps: [step('a')], handlers: { exit: handler('exit') } });
  run.fail('a', 'handlerOn.exit');
  mark(run, 'a', 'succeeded');
  expect(run.ending).toEqual(['failed', 'handler']);
});

test('a run whose precondition was not met succeeds once all its steps are marked as succeeded', () => {
  const run = new DrivenRun({ steps: [step('a')] });
  run.send({ type: 'refuse', at: 1000, reason: 'precondition', message: 'no' });
  mark(run, 'a', 'succeeded');
  expect(run.ending).toEqual(['succeeded', null]);
});

test('a mark does not change a running run, nor a step that already has the status', () => {
  const run = DrivenRun.started(chain);
  expect(mark(run, 'a', 'succeeded')).toEqual([]);
  run.end('a', success());
  run.end('b', skip('no'));
  expect(run.statuses).toEqual({ a: 'succeeded', b: 'skipped', c: 'skipped' });
  expect(mark(run, 'a', 'succeeded')).toEqual([]);
});

test('however steps are marked, the counts match the steps, and marking all as succeeded makes the run succeed', () => {
  const marks = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('succeeded' as const, 'failed' as const)),
  );
  const tolerant = { continueOn: { failure: true, skipped: true } };
  fc.assert(
    fc.property(marks, fc.boolean(), (chosen, isStopped) => {
      const settings = { steps: [step('a', tolerant), step('b', { depends: ['a'] }), step('c')] };
      const run = DrivenRun.started(settings);
      if (isStopped) run.cancel();
      for (const name of ['a', 'c', 'b']) if (run.step(name).status === 'scheduled') run.fail(name);
      for (const [name, status] of chosen) mark(run, name, status);
      const { counts, settled } = run.state;
      const statuses = Object.values(run.statuses);
      expect([counts.succeeded, counts.failed, settled]).toEqual([
        statuses.filter((status) => status === 'succeeded').length,
        statuses.filter((status) => status === 'failed').length,
        3,
      ]);
      const made = workflow(settings);
      expect(run.events.reduce(evolve, initialRun(buildGraph(made), made))).toEqual(run.state);
      for (const name of ['a', 'b', 'c']) mark(run, name, 'succeeded');
      expect(run.ending).toEqual(['succeeded', null]);
    }),
  );
});
