import { expect, it } from 'vitest';
import { stepState } from '#core/run/run-state.ts';
import type { ActiveRun } from '#engine/engine.ts';
import type { FindSubworkflow } from '#engine/local/engine-options.ts';
import type { SubworkflowResult } from '#executors/executor.ts';
import { untilKilled, untilStopped, type Work, withEngine } from '../../support/engine-world.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

const parent = workflow({ name: 'parent', file: '/w/parent.yaml', steps: [step('call')] });

/** A step that runs the workflow `child` and records its results. */
function calling(results: SubworkflowResult[], params = '', run = 'child'): Work {
  return async (attempt) => {
    const result = await attempt.runWorkflow({ run, params });
    results.push(result);
    return result.ok
      ? { status: 'succeeded', exitCode: 0, outputs: {} }
      : { status: 'failed', reason: 'error', message: result.message, exitCode: null, signal: null, outputs: {} };
  };
}

function finds(...child: Parameters<typeof workflow>): FindSubworkflow {
  return () => ({ workflow: workflow(...child), sources: [], params: [] });
}

it('runs another workflow as a child run and returns its result', async () => {
  const results: SubworkflowResult[] = [];
  const give: Work = () => ({ status: 'succeeded', exitCode: 0, outputs: { OUT: 'text' } });
  const findSubworkflow = finds({ name: 'child', steps: [step('give')] });
  await withEngine({ work: { call: calling(results), give }, findSubworkflow }, async ({ start }) => {
    expect((await start(parent).finished).status).toBe('succeeded');
  });
  expect(results.map(({ json }) => JSON.parse(json))).toEqual([
    { name: 'child', runId: 'child-1', status: 'succeeded', params: [], outputs: { OUT: 'text' } },
  ]);
});

it('replaces variables of the step in the parameters', async () => {
  const seen: unknown[] = [];
  const look: Work = ({ params }) => {
    seen.push(...params);
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
  const findSubworkflow: FindSubworkflow = ({ expand }) => ({
    workflow: workflow({ steps: [step('look')] }),
    sources: [],
    params: [{ name: 'A', value: expand('$VALUE') }],
  });
  const processEnv = { VALUE: 'two words" B=3' };
  await withEngine({ work: { call: calling([]), look }, findSubworkflow, processEnv }, async ({ start }) => {
    await start(parent).finished;
  });
  expect(seen).toEqual(['A=two words" B=3']);
});

it.each([
  ['child', undefined],
  ['$NAME', 'child'],
])('names the workflow in the start of its step if it is %s', async (run, expected) => {
  const findSubworkflow = finds({ name: 'child', steps: [step('give')] });
  const give: Work = () => ({ status: 'succeeded', exitCode: 0, outputs: {} });
  const processEnv = { NAME: 'child' };
  await withEngine({ work: { call: calling([], '', run), give }, findSubworkflow, processEnv }, async (engine) => {
    const { start, told } = engine;
    const run = start(parent);
    const started = await told('step.started', 'call');
    expect('childWorkflow' in started ? started.childWorkflow : undefined).toBe(expected);
    await run.finished;
  });
});

it('fails with the first failed step of the other workflow', async () => {
  const fails: Work = () => ({
    status: 'failed',
    reason: 'exit',
    message: 'exit 5',
    exitCode: 5,
    signal: null,
    outputs: {},
  });
  const findSubworkflow = finds({ name: 'child', steps: [step('breaks')] });
  await withEngine({ work: { call: calling([]), breaks: fails }, findSubworkflow }, async ({ start }) => {
    const { message } = stepState(await start(parent).finished, 'call');
    expect(message).toBe('step "breaks": exit 5');
  });
});

it('reports a missing workflow', async () => {
  await withEngine({ work: { call: calling([]) } }, async ({ start }) => {
    expect(stepState(await start(parent).finished, 'call').message).toBe('no workflow "child"');
  });
});

it('refuses a workflow that runs itself', async () => {
  const findSubworkflow: FindSubworkflow = () => ({ workflow: parent, sources: [], params: [] });
  await withEngine({ work: { call: calling([]) }, findSubworkflow }, async ({ start }) => {
    const { message } = stepState(await start(parent).finished, 'call');
    expect(message).toBe('workflow "parent" runs itself: /w/parent.yaml -> /w/parent.yaml');
  });
});

it('stops the other workflow with its step', async () => {
  const findSubworkflow = finds({ name: 'child', steps: [step('slow')] });
  await withEngine(
    { work: { call: calling([]), slow: untilStopped }, findSubworkflow },
    async ({ start, clock, told }) => {
      const run = start(parent);
      await told('step.started', 'call');
      run.cancel({ reason: 'stop', message: 'stopped by SIGTERM', force: false });
      const state = await run.finished;
      expect([state.status, stepState(state, 'call').status, clock.pending()]).toEqual(['canceled', 'canceled', 0]);
    },
  );
});

/** A stopped run of `parent`, whose child ignores the stop: its moments, and a call that passes the grace of a stop. */
async function withStubbornChild(handle: Work, use: (stopped: StoppedRun) => Promise<void>): Promise<void> {
  const begun = moment();
  const asked = moment();
  const handling = moment();
  const slow: Work = (attempt) => {
    begun.come();
    attempt.signal.onAbort(asked.come);
    return untilKilled(attempt);
  };
  const exit: Work = (attempt) => {
    handling.come();
    return handle(attempt);
  };
  const findSubworkflow = finds({ name: 'child', steps: [step('slow')], handlers: { exit: handler('exit') } });
  const work = { call: calling([]), slow, 'handlerOn.exit': exit };
  await withEngine({ work, findSubworkflow }, async ({ start, clock }) => {
    const run = start(workflow({ steps: [step('call', { executor: { type: 'workflow', config: {} } })] }));
    await begun.passed;
    run.cancel({ reason: 'stop', message: 'stopped by SIGTERM', force: false });
    await asked.passed;
    await use({ run, handling: handling.passed, passGrace: () => clock.advance(60_000) });
    expect(clock.pending()).toBe(0);
  });
}

/** A moment that a test waits for. */
function moment(): { readonly passed: Promise<void>; readonly come: () => void } {
  let come = () => {};
  const passed = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { passed, come };
}

type StoppedRun = { readonly run: ActiveRun; readonly handling: Promise<void>; readonly passGrace: () => void };

it('kills the steps of the other workflow after the grace, and lets its handlers run', async () => {
  let ends = 0;
  const handle: Work = () => {
    ends += 1;
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
  await withStubbornChild(handle, async ({ run, passGrace }) => {
    passGrace();
    expect((await run.finished).status).toBe('canceled');
  });
  expect(ends).toBe(1);
});

it('kills the handlers of the other workflow after the grace for them', () =>
  withStubbornChild(untilKilled, async ({ run, handling, passGrace }) => {
    passGrace();
    await handling;
    passGrace();
    expect((await run.finished).status).toBe('canceled');
  }));

it('kills the handlers of the other workflow at a second stop', () =>
  withStubbornChild(untilKilled, async ({ run, handling, passGrace }) => {
    passGrace();
    await handling;
    run.cancel({ reason: 'stop', message: 'stopped by SIGTERM', force: true });
    expect((await run.finished).status).toBe('canceled');
  }));
