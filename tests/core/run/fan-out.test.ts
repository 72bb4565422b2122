import { describe, expect, test } from 'vitest';
import { evolve } from '#core/run/evolve.ts';
import { planRetry } from '#core/run/retry.ts';
import { maskEvent } from '#core/secrets/mask.ts';
import { Secrets } from '#core/secrets/secrets.ts';
import { summarize } from '#core/summary/summarize.ts';
import type { FanOut, Step } from '#core/workflow.ts';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { canceled, failure, skip, success } from '../../support/outcome.ts';
import { step } from '../../support/workflow.ts';

function fan(settings: Partial<FanOut> = {}, others: Partial<Step> = {}): Step {
  return step('ship', { fanOut: { items: '$HOSTS', maxConcurrent: 10, failFast: false, ...settings }, ...others });
}

const after = step('after', { depends: ['ship'] });

/** A run of `ship`, whose items have been read. */
function expanded(steps: readonly Step[], keys: readonly string[], settings = {}): DrivenRun {
  const run = DrivenRun.started({ steps, ...settings });
  run.expand('ship', keys);
  return run;
}

describe('a fan-out', () => {
  test('reads its items first, then starts an instance for each', () => {
    const run = DrivenRun.started({ steps: [fan(), after] });
    expect(told(run.events)).toEqual(['run.started', 'step.scheduled ship 1']);
    expect(told(run.expand('ship', ['a', 'b']))).toEqual([
      'step.expanded ship a b',
      'step.scheduled ship[a] 1',
      'step.scheduled ship[b] 1',
    ]);
    expect(run.statuses).toEqual({ ship: 'running', after: 'pending' });
    run.succeed('ship[a]');
    expect(told(run.succeed('ship[b]'))).toEqual([
      'step.finished ship[b] succeeded',
      'step.finished ship succeeded',
      'step.scheduled after 1',
    ]);
  });

  test('succeeds without items', () => {
    const run = expanded([fan({}, { output: 'OUT' })], []);
    expect(run.ending).toEqual(['succeeded', null]);
    const summary = { total: 0, succeeded: 0, failed: 0, skipped: 0, canceled: 0 };
    expect(JSON.parse(run.step('ship').outputs['OUT'] ?? '')).toEqual({ summary, outputs: [], results: [] });
  });

  test('keeps to its own limit, and its instances to that of the run, before steps after it in the file', () => {
    const run = expanded([fan({ maxConcurrent: 2 }), step('other')], ['a', 'b', 'c'], { maxActiveSteps: 3 });
    expect(run.started).toEqual(['ship', 'other', 'ship[a]', 'ship[b]']);
    run.succeed('other');
    expect(run.started).toHaveLength(4);
    run.succeed('ship[b]');
    expect(run.started.at(-1)).toBe('ship[c]');
    const narrow = expanded([fan(), step('other')], ['a', 'b'], { maxActiveSteps: 1 });
    expect(narrow.started).toEqual(['ship', 'ship[a]']);
    narrow.succeed('ship[a]', 'ship[b]');
    expect(narrow.started).toEqual(['ship', 'ship[a]', 'ship[b]', 'other']);
  });

  test('retries each instance separately', () => {
    const run = expanded([fan({ maxConcurrent: 1 }, { retry: { limit: 1, intervalMs: 50 } })], ['a', 'b']);
    expect(told(run.fail('ship[a]'))).toEqual(['step.waiting ship[a] retry until 1050', 'step.scheduled ship[b] 1']);
    run.fire('ship[a]');
    expect(told(run.succeed('ship[b]'))).toEqual(['step.finished ship[b] succeeded', 'step.scheduled ship[a] 2']);
    run.succeed('ship[a]');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('fails with the instances that failed, after all of them have ended', () => {
    const run = expanded([fan(), after], ['a', 'b', 'c']);
    run.end('ship[b]', failure({ exitCode: 7, message: 'exit 7' }));
    run.succeed('ship[a]');
    expect(run.statuses['ship']).toBe('running');
    run.end('ship[c]', skip());
    expect(run.step('ship')).toMatchObject({
      status: 'failed',
      message: '1 of 3 failed: b',
      reason: 'exit',
      exitCode: 7,
    });
    expect(run.statuses['after']).toBe('upstream_failed');
    expect(run.state.message).toBe('step "ship" failed: 1 of 3 failed: b');
  });

  test('lets its dependents run if every failure is tolerated', () => {
    const run = expanded(
      [fan({}, { continueOn: { failure: false, skipped: false, exitCodes: [3] } }), after],
      ['a', 'b'],
    );
    run.end('ship[a]', failure({ exitCode: 3 }));
    run.succeed('ship[b]', 'after');
    expect(run.step('ship')).toMatchObject({ status: 'failed', tolerated: 'exitCode', message: '1 of 2 failed: a' });
    expect(run.ending).toEqual(['partially_succeeded', null]);
  });

  test('is skipped if all its instances are', () => {
    const run = expanded([fan(), after], ['a', 'b']);
    for (const key of ['a', 'b']) run.end(`ship[${key}]`, skip());
    expect(run.statuses).toEqual({ ship: 'skipped', after: 'skipped' });
  });

  test('fails without retries if its items cannot be read', () => {
    const run = DrivenRun.started({ steps: [fan({}, { retry: { limit: 3, intervalMs: 0 } })] });
    run.end('ship', failure({ reason: 'error', message: 'no HOSTS', exitCode: null }));
    expect(run.step('ship')).toMatchObject({ status: 'failed', message: 'no HOSTS', attempt: 1 });
    expect(summarize(run.state, () => null).steps[0]).not.toHaveProperty('items');
  });

  test('fails first with too many items, of its own or of the run', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, index) => String(index));
    const large = expanded([fan()], keys(1001));
    expect(large.step('ship').message).toBe('1001 items: a step takes at most 1000');
    const names = Array.from({ length: 11 }, (_, index) => `f${index}`);
    const { fanOut } = fan() as Required<Pick<Step, 'fanOut'>>;
    const run = DrivenRun.started({ steps: names.map((name) => step(name, { fanOut })) });
    for (const name of names) run.expand(name, keys(name === 'f10' ? 1 : 1000));
    expect(run.step('f10').message).toBe('1 item: the run has 10000 instances of other steps and takes at most 10000');
    expect(run.state.active).toBe(100);
  });
});

describe('failFast', () => {
  test('cancels what has not started, and lets running instances end', () => {
    const run = expanded([fan({ maxConcurrent: 2, failFast: true })], ['a', 'b', 'c']);
    expect(told(run.fail('ship[a]'))).toEqual([
      'step.finished ship[a] failed',
      'step.canceling ship',
      'step.finished ship[c] canceled',
    ]);
    expect(run.step('ship[c]').message).toBe('"ship[a]" failed');
    run.end('ship[b]', canceled());
    expect(run.step('ship')).toMatchObject({ status: 'failed', message: '1 of 3 failed: a' });
  });

  test('keeps the place of an instance that waits for its retry', () => {
    const retry = { limit: 1, intervalMs: 50 };
    const run = expanded([fan({ maxConcurrent: 1, failFast: true }, { retry })], ['a', 'b', 'c']);
    expect(told(run.fail('ship[a]'))).toEqual(['step.waiting ship[a] retry until 1050']);
    expect(told(run.fire('ship[a]'))).toEqual(['step.ready ship[a]', 'step.scheduled ship[a] 2']);
    expect(told(run.succeed('ship[a]'))).toEqual(['step.finished ship[a] succeeded', 'step.scheduled ship[b] 1']);
    run.fail('ship[b]');
    run.fire('ship[b]');
    expect(told(run.fail('ship[b]')).slice(0, 3)).toEqual([
      'step.finished ship[b] failed',
      'step.canceling ship',
      'step.finished ship[c] canceled',
    ]);
    expect(run.started).not.toContain('ship[c]');
  });

  test('uses the other places while an instance waits for its retry', () => {
    const retry = { limit: 1, intervalMs: 50 };
    const run = expanded([fan({ maxConcurrent: 2, failFast: true }, { retry })], ['a', 'b', 'c', 'd']);
    run.fail('ship[b]');
    expect(told(run.succeed('ship[a]'))).toEqual(['step.finished ship[a] succeeded', 'step.scheduled ship[c] 1']);
    expect(told(run.fire('ship[b]'))).toEqual(['step.ready ship[b]', 'step.scheduled ship[b] 2']);
    run.succeed('ship[b]', 'ship[c]', 'ship[d]');
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test('starts no further attempt at an instance that fails afterwards', () => {
    const run = expanded([fan({ failFast: true }, { retry: { limit: 1, intervalMs: 0 } })], ['a', 'b']);
    run.fail('ship[a]');
    run.fire('ship[a]');
    run.fail('ship[a]');
    expect(told(run.fail('ship[b]'))).toEqual([
      'step.finished ship[b] failed',
      'step.finished ship failed',
      'run.finished failed step',
    ]);
  });
});

describe('a run with a fan-out that ends early', () => {
  test('cancels the waiting instances, and ends with the running ones', () => {
    const run = expanded([fan({ maxConcurrent: 1 }), after], ['a', 'b']);
    run.cancel();
    expect(run.step('ship[b]')).toMatchObject({ status: 'canceled', message: 'the run was stopped' });
    run.end('ship[a]', canceled());
    expect(run.statuses).toEqual({ ship: 'canceled', after: 'canceled' });
    expect(run.ending).toEqual(['canceled', 'stop']);
  });

  test('starts no instance if it was stopped while items were read', () => {
    const run = DrivenRun.started({ steps: [fan()] });
    run.cancel();
    expect(told(run.expand('ship', ['a']))).toEqual(['step.finished ship canceled', 'run.finished canceled stop']);
  });

  test('that is lost has lost its running instances', () => {
    const run = expanded([fan({ maxConcurrent: 1 }), after], ['a', 'b']);
    run.send({ type: 'lost', at: 2000, message: 'gone' });
    expect(run.step('ship')).toMatchObject({ status: 'failed', reason: 'lost', message: '1 of 2 failed: a' });
    expect(run.step('ship[b]').status).toBe('canceled');
    expect(run.ending).toEqual(['failed', 'lost']);
  });
});

describe('the output of a fan-out', () => {
  test('holds the outputs of what succeeded, and the result of each item', () => {
    const run = expanded([fan({}, { output: 'OUT' })], ['a', 'b']);
    run.end('ship[b]', success({ OUT: 'B' }));
    run.end('ship[a]', failure({ outputs: { OUT: 'half' } }));
    expect(JSON.parse(run.step('ship').outputs['OUT'] ?? '')).toEqual({
      summary: { total: 2, succeeded: 1, failed: 1, skipped: 0, canceled: 0 },
      outputs: [{ OUT: 'B' }],
      results: [
        { key: 'a', index: 0, item: 'a', status: 'failed', exitCode: 1, runId: null, output: 'half' },
        { key: 'b', index: 1, item: 'b', status: 'succeeded', exitCode: 0, runId: null, output: 'B' },
      ],
    });
  });

  test('holds the outputs of child runs', () => {
    const run = expanded([fan({}, { output: 'OUT', executor: { type: 'workflow', config: {} } })], ['a']);
    run.send({ type: 'attempt-started', at: 1, step: 'ship[a]', attempt: 1, process: null, child: 'child-1' });
    run.end('ship[a]', success({ OUT: '{"runId":"child-1","outputs":{"X":"1","Y":"2"}}' }));
    const { outputs, results } = JSON.parse(run.step('ship').outputs['OUT'] ?? '') as Record<string, unknown[]>;
    expect(outputs).toEqual([{ X: '1', Y: '2' }]);
    expect(results).toMatchObject([{ runId: 'child-1' }]);
  });

  test('of more than 1 MiB fails the step', () => {
    const run = expanded([fan({}, { output: 'OUT' })], ['a', 'b']);
    for (const key of ['a', 'b']) run.end(`ship[${key}]`, success({ OUT: 'ä'.repeat(150_000) }));
    expect(run.step('ship')).toMatchObject({ status: 'failed', reason: 'error', outputs: {} });
    expect(run.step('ship').message).toMatch(/^output "OUT" has 1200\d\d\d bytes; a variable can hold 1048576$/);
  });
});

describe('a retry of a fan-out', () => {
  const steps = [step('list'), fan({}, { depends: ['list'] }), after];

  function failed(): DrivenRun {
    const run = DrivenRun.started({ steps });
    run.succeed('list');
    run.expand('ship', ['a', 'b', 'c']);
    run.end('ship[a]', success({ OUT: 'A' }));
    run.fail('ship[b]', 'ship[c]');
    return run;
  }

  const keptA = { step: 'ship[a]', status: 'succeeded', outputs: { OUT: 'A' } };
  const items = ['a', 'b', 'c'].map((key) => ({ key, value: key }));

  test('runs the instances that did not succeed, with the same items', () => {
    const plan = planRetry(failed().state, { steps: 'unfinished' });
    expect(plan).toEqual({
      restored: [
        { step: 'list', status: 'succeeded', outputs: {} },
        { step: 'ship', items, instances: [keptA] },
      ],
      rerun: ['ship', 'after'],
    });
    const next = new DrivenRun({ steps });
    next.start(plan.restored);
    expect(next.started).toEqual(['ship[b]', 'ship[c]']);
    next.succeed('ship[b]', 'ship[c]', 'after');
    expect(next.ending).toEqual(['succeeded', null]);
    expect(planRetry(next.state, { steps: 'unfinished' }).rerun).toEqual([]);
  });

  test('of one instance keeps the ends of the others', () => {
    const plan = planRetry(failed().state, { only: 'ship[c]' });
    expect(plan.rerun).toEqual(['ship']);
    const next = new DrivenRun({ steps });
    next.start(plan.restored);
    expect(next.started).toEqual(['ship[c]']);
    next.succeed('ship[c]');
    expect(next.step('ship')).toMatchObject({ status: 'failed', message: '1 of 3 failed: b' });
    expect(planRetry(next.state, { from: 'ship[b]' }).rerun).toEqual(['ship', 'after']);
  });

  test('reads the items again if a step before it is rerun', () => {
    const plan = planRetry(failed().state, { from: 'list' });
    expect(plan).toEqual({ restored: [], rerun: ['list', 'ship', 'after'] });
  });

  test('of another step keeps its instances for the next retry', () => {
    const plan = planRetry(failed().state, { only: 'after' });
    const next = new DrivenRun({ steps });
    next.start(plan.restored);
    next.fail('after');
    expect(next.started).toEqual(['after']);
    expect(next.step('ship')).toMatchObject({ status: 'failed', restored: true });
    expect(planRetry(next.state, { steps: 'unfinished' }).restored).toContainEqual({
      step: 'ship',
      items,
      instances: [keptA],
    });
  });

  test('runs all instances of a step that succeeded and is named', () => {
    const run = expanded([fan()], ['a', 'b']);
    run.succeed('ship[a]', 'ship[b]');
    const [kept] = planRetry(run.state, { only: 'ship' }).restored;
    expect(kept).toMatchObject({ step: 'ship', instances: [] });
  });

  test('reads items again if they contain secrets, which are not stored', () => {
    const secrets = new Secrets();
    secrets.add('hunter2');
    const event = {
      type: 'step.expanded',
      at: 1,
      step: 'ship',
      attempt: 1,
      items: [{ key: '0', value: { pw: 'hunter2', n: 1 } }],
    } as const;
    const masked = maskEvent(event, { secrets, names: new Set() });
    expect(masked).toEqual({ ...event, items: [{ key: '0', value: { pw: '***', n: 1 }, masked: true }] });
    const run = DrivenRun.started({ steps: [fan()] });
    run.state = evolve(run.state, masked);
    run.fail('ship[0]');
    expect(planRetry(run.state, { steps: 'unfinished' })).toEqual({ restored: [], rerun: ['ship'] });
  });
});

describe('a mark of an instance', () => {
  test('changes its fan-out and the run once all instances have that status', () => {
    const run = expanded([fan()], ['a', 'b']);
    run.fail('ship[a]', 'ship[b]');
    const mark = (name: string) => run.send({ type: 'mark', at: 2000, step: name, status: 'succeeded', by: 'ann' });
    mark('ship[a]');
    expect(run.ending).toEqual(['failed', 'step']);
    mark('ship[b]');
    expect(run.statuses).toEqual({ ship: 'succeeded' });
    expect(run.ending).toEqual(['succeeded', null]);
  });
});

test('the summary of a fan-out lists its instances', () => {
  const run = expanded([fan()], ['a']);
  run.begin('ship[a]');
  run.end('ship[a]', success({ OUT: '1' }));
  const [ship] = summarize(run.state, (name, attempt) => `${name}.${attempt}`).steps;
  expect(ship).toMatchObject({ name: 'ship', log: null });
  expect(ship?.items).toMatchObject([
    {
      key: 'a',
      index: 0,
      item: 'a',
      name: 'ship[a]',
      status: 'succeeded',
      attempts: 1,
      outputs: { OUT: '1' },
      log: 'ship[a].1',
    },
  ]);
});
