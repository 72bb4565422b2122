import { describe, expect, test } from 'vitest';
import { planRetry } from '#core/run/retry.ts';
import { isHeld } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import type { Approval } from '#core/workflow.ts';
import { DrivenRun, told } from '../../support/driven-run.ts';
import { canceled, failure } from '../../support/outcome.ts';
import { handler, step } from '../../support/workflow.ts';

const approval: Approval = { prompt: '', inputs: [], by: [], timeoutMs: 0, onTimeout: 'reject' };
const asking = { steps: [step('a', { approval }), step('b', { approval })], handlers: { wait: handler('wait') } };
const wait = 'handlerOn.wait';

describe('the handler "wait"', () => {
  test('runs beside the steps at each wait; waits that begin while it runs share its next run', () => {
    const run = DrivenRun.started({ ...asking, steps: [...asking.steps, step('c', { approval })] });
    expect(told(run.succeed('a')).at(-1)).toBe('step.scheduled handlerOn.wait 1');
    run.succeed('b', 'c');
    expect(run.started.filter((name) => name === wait)).toHaveLength(1);
    run.now += 500;
    expect(told(run.succeed(wait))).toEqual([
      'step.finished handlerOn.wait succeeded',
      'step.scheduled handlerOn.wait 2',
    ]);
    run.begin(wait);
    expect(run.step(wait)).toMatchObject({ startedAt: 1500, finishedAt: null });
    run.succeed(wait);
    for (const name of ['a', 'b', 'c']) run.answer(name, 'approved');
    expect(run.ending).toEqual(['succeeded', null]);
    expect(summarize(run.state, () => null).handlers.map(({ name, attempts }) => [name, attempts])).toEqual([
      [wait, 2],
    ]);
  });

  test('does not run again for a wait that ended before its end', () => {
    const run = DrivenRun.started(asking);
    run.succeed('a', 'b');
    run.answer('b', 'approved');
    run.succeed(wait);
    expect(run.started.filter((name) => name === wait)).toHaveLength(1);
  });

  test('causes only a warning by its failure; the run is held meanwhile', () => {
    const run = DrivenRun.started({ ...asking, handlers: { wait: handler('wait'), exit: handler('exit') } });
    run.succeed('a', 'b');
    expect(isHeld(run.state)).toBe(true);
    run.end(wait, failure({ message: 'exit 7', exitCode: 7 }));
    run.end(wait, failure({ message: 'exit 8', exitCode: 8 }));
    for (const name of ['a', 'b']) run.answer(name, 'approved');
    run.succeed('handlerOn.exit');
    expect(run.ending).toEqual(['succeeded', null]);
    expect(summarize(run.state, () => null).warnings).toEqual([`${wait}: exit 7`, `${wait}: exit 8`]);
  });

  test('is retried by its policy, and the run does not finish before it', () => {
    const retry = { limit: 1, intervalMs: 100 };
    const run = DrivenRun.started({
      steps: [step('a', { approval })],
      handlers: { wait: { ...handler('wait'), retry } },
    });
    run.succeed('a');
    run.fail(wait);
    run.answer('a', 'approved');
    expect(run.state.status).toBe('handling');
    expect(run.send({ type: 'cancel', at: run.now, reason: 'timeout', message: '', force: false })).toEqual([]);
    run.fire(wait);
    run.fail(wait);
    expect(run.ending).toEqual(['succeeded', null]);
  });

  test.each([false, true])('ends with a canceled run and does not start after it (forced: %s)', (isForced) => {
    const run = DrivenRun.started(asking);
    run.succeed('a', 'b');
    run.cancel('stop', isForced);
    expect(run.state.finishedAt).toBeNull();
    run.end(wait, canceled());
    expect(run.ending).toEqual(['canceled', 'stop']);
    expect(run.started.filter((name) => name === wait)).toHaveLength(1);
    expect(run.state.warnings).toEqual([]);
  });

  test('is lost with its run, whose retry runs it again', () => {
    const run = DrivenRun.started(asking);
    run.succeed('a', 'b');
    run.send({ type: 'lost', at: run.now, message: 'wf died' });
    expect(run.step(wait)).toMatchObject({ status: 'failed', reason: 'lost' });
    const again = new DrivenRun(asking);
    again.start(planRetry(run.state, { steps: 'unfinished' }).restored);
    expect(again.started).toEqual([wait]);
  });

  test('starts after the handler "init", and not in an unattended run', () => {
    const handlers = { init: handler('init'), wait: handler('wait') };
    const run = new DrivenRun({ ...asking, handlers });
    const restored = ['a', 'b'].map((name) => ({ step: name, status: 'canceled' as const, outputs: {}, held: '' }));
    run.start(restored);
    expect(run.started).toEqual(['handlerOn.init']);
    run.succeed('handlerOn.init');
    expect(run.started).toEqual(['handlerOn.init', wait]);
    const other = new DrivenRun(asking);
    other.state = { ...other.state, policies: { ...other.state.policies, isUnattended: true } };
    other.start();
    other.succeed('a', 'b');
    expect(other.started).toEqual(['a', 'b']);
  });
});
