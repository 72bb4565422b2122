import { describe, expect, test } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import { planRetry } from '#core/run/retry.ts';
import type { RunEvent } from '#core/run/run.ts';
import { stepState } from '#core/run/run-state.ts';
import { DrivenRun } from '../../support/driven-run.ts';
import { canceled, failure, success } from '../../support/outcome.ts';
import { step, workflow } from '../../support/workflow.ts';

const service = { readyWhen: null, intervalMs: 1000, timeoutMs: 60_000 };
const db = step('db', { service });
const user = step('test', { depends: ['db'] });

/** The events in short: type, step and what else tells them apart. */
function told(events: readonly RunEvent[]): readonly string[] {
  return events.map((event) => {
    const status = event.type === 'step.finished' || event.type === 'run.finished' ? ` ${event.status}` : '';
    const message = 'message' in event && event.message ? `: ${event.message}` : '';
    return `${event.type}${'step' in event ? ` ${event.step}` : ''}${status}${message}`;
  });
}

/** A run whose service `db` is ready. */
function serving(settings: Parameters<typeof DrivenRun.started>[0]): DrivenRun {
  const run = DrivenRun.started(settings);
  run.begin('db');
  run.serve('db');
  return run;
}

describe('a service', () => {
  test('lets its dependents start when it is ready, and ends after them', () => {
    const run = DrivenRun.started({ steps: [db, user] });
    expect(told(run.begin('db'))).toEqual(['step.started db']);
    expect(told(run.serve('db'))).toEqual(['step.serving db', 'step.scheduled test']);
    expect(told(run.succeed('test'))).toEqual(['step.finished test succeeded', 'step.ending db']);
    expect(told(run.end('db', canceled()))).toEqual(['step.finished db succeeded', 'run.finished succeeded']);
  });

  test('takes no place once it is ready', () => {
    const run = serving({ steps: [db, user, step('other')], maxActiveSteps: 1 });
    expect({ active: run.state.active, test: stepState(run.state, 'test').status }).toEqual({
      active: 1,
      test: 'scheduled',
    });
  });

  test.each([
    [success(), 'ended while "test" needs it'],
    [failure({ exitCode: 3, message: 'exit 3' }), 'exit 3'],
  ])('that ends while a step needs it fails, and running steps continue', (outcome, message) => {
    const run = serving({ steps: [db, user, step('later', { depends: ['db', 'test'] })] });
    expect(told(run.end('db', outcome))).toEqual([`step.finished db failed: ${message}`]);
    expect(told(run.succeed('test'))).toEqual([
      'step.finished test succeeded',
      'step.finished later upstream_failed: "db" failed',
      `run.finished failed: step "db" failed: ${message}`,
    ]);
  });

  test('that ends after its last use has the result of its exit code', () => {
    const run = serving({ steps: [db, user, step('other')] });
    run.succeed('test');
    expect(told(run.succeed('db'))).toEqual(['step.finished db succeeded']);
  });

  test('that ends before it is ready fails, even with exit code 0', () => {
    const run = DrivenRun.started({ steps: [db, user] });
    run.begin('db');
    run.succeed('db');
    expect(stepState(run.state, 'db')).toMatchObject({ reason: 'unready', message: 'ended before it was ready' });
    expect(stepState(run.state, 'test').status).toBe('upstream_failed');
  });

  test('is restarted by its retry policy, and nothing new starts before it is ready again', () => {
    const retry = { limit: 1, intervalMs: 10 };
    const test2 = step('test2', { depends: ['db'] });
    const run = serving({ steps: [step('db', { service, retry }), user, test2], maxActiveSteps: 1 });
    expect(told(run.end('db', failure()))).toEqual(['step.waiting db']);
    expect(told(run.succeed('test'))).toEqual(['step.finished test succeeded']);
    expect(told(run.fire('db'))).toEqual(['step.ready db', 'step.scheduled db']);
    run.begin('db');
    expect(told(run.serve('db'))).toEqual(['step.serving db', 'step.scheduled test2']);
  });

  test('that fails for good holds back the retry of a step that uses it', () => {
    const retry = { limit: 1, intervalMs: 10 };
    const run = serving({ steps: [db, step('test', { depends: ['db'], retry })] });
    run.end('db', failure());
    expect(told(run.end('test', failure())).slice(0, 2)).toEqual([
      'step.waiting test',
      'step.finished test upstream_failed: "db" failed',
    ]);
  });

  test('whose failure is tolerated lets its dependents run', () => {
    const continueOn = { failure: true, skipped: false };
    const run = DrivenRun.started({ steps: [step('db', { service, continueOn }), user] });
    run.begin('db');
    expect(told(run.fail('db'))).toEqual(['step.finished db failed: exit 1', 'step.scheduled test']);
  });

  test('that was not ready when the run was stopped is canceled; a ready one succeeds', () => {
    const run = serving({ steps: [db, user, step('slow', { service, depends: ['db'] })] });
    run.begin('slow');
    run.cancel('stop');
    expect(told(run.end('test', canceled()))).toEqual(['step.finished test canceled: stopped', 'step.ending slow']);
    expect(told(run.end('slow', canceled()))).toEqual(['step.finished slow canceled: stopped', 'step.ending db']);
    expect(told(run.end('db', canceled()))).toEqual([
      'step.finished db succeeded',
      'run.finished canceled: because of stop',
    ]);
  });

  test('is canceled by a kill', () => {
    const run = serving({ steps: [db, user] });
    run.cancel('stop', true);
    run.end('test', canceled());
    expect(told(run.end('db', canceled()))).toContain('step.finished db canceled: stopped');
  });

  test('alone in its workflow stays up until it is stopped', () => {
    const run = serving({ steps: [db] });
    expect(run.state.status).toBe('running');
    expect(told(run.cancel('stop'))).toEqual(['run.canceling: because of stop', 'step.ending db']);
  });

  test('ends before the handlers', () => {
    const exit = step('handlerOn.exit');
    const run = serving({ steps: [db, user], handlers: { exit } });
    run.succeed('test');
    expect(told(run.end('db', canceled()))).toEqual([
      'step.finished db succeeded',
      'run.handling',
      'step.scheduled handlerOn.exit',
    ]);
  });

  test('ignores a late report that it is ready', () => {
    const run = serving({ steps: [db, user] });
    run.succeed('test');
    expect(run.serve('db')).toEqual([]);
    run.end('db', canceled());
    expect(run.serve('db')).toEqual([]);
  });
});

describe('a retry', () => {
  const steps = [db, step('a', { depends: ['db'] }), step('b', { depends: ['db'] })];

  /** What a retry of a run runs again, after `a` succeeded and `b` failed. */
  function rerunAfter(
    end: (run: DrivenRun) => void,
    selection: Parameters<typeof planRetry>[1] = { steps: 'unfinished' },
  ) {
    const run = serving({ steps });
    run.succeed('a');
    end(run);
    return planRetry(run.state, selection, buildGraph(workflow({ steps }))).rerun;
  }

  test('runs a service that a step to run needs, and keeps the other results', () => {
    const fail = (run: DrivenRun) => {
      run.fail('b');
      run.end('db', canceled());
    };
    expect(rerunAfter(fail)).toEqual(['db', 'b']);
    expect(rerunAfter(fail, { only: 'a' })).toEqual(['db', 'a']);
    expect(rerunAfter(fail, { from: 'b' })).toEqual(['db', 'b']);
    expect(rerunAfter(fail, { from: 'db' })).toEqual(['db', 'a', 'b']);
  });

  test('runs a lost service and the steps that did not succeed', () => {
    expect(rerunAfter((run) => run.send({ type: 'lost', at: 1, message: 'died' }))).toEqual(['db', 'b']);
  });

  test('leaves a service alone that no step needs', () => {
    const other = [...steps, step('c')];
    const run = serving({ steps: other });
    run.succeed('a', 'b');
    run.fail('c');
    run.end('db', canceled());
    expect(planRetry(run.state, { steps: 'unfinished' }).rerun).toEqual(['c']);
  });
});
