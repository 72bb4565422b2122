import { expect, it } from 'vitest';
import { stepState } from '../../../src/core/run/run-state.ts';
import type { FindSubworkflow } from '../../../src/engine/local/engine-options.ts';
import type { SubworkflowResult } from '../../../src/executors/executor.ts';
import { untilStopped, type Work, withEngine } from '../../support/engine-world.ts';
import { step, workflow } from '../../support/workflow.ts';

const parent = workflow({ name: 'parent', file: '/w/parent.yaml', steps: [step('call')] });

/** A step that runs the workflow `child` and records its results. */
function calling(results: SubworkflowResult[], params = ''): Work {
  return async (attempt) => {
    const result = await attempt.runWorkflow({ run: 'child', params });
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

it('replaces variables in the parameters after they were split', async () => {
  const seen: unknown[] = [];
  const look: Work = ({ params }) => {
    seen.push(...params);
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
  const findSubworkflow: FindSubworkflow = () => ({
    workflow: workflow({ steps: [step('look')] }),
    sources: [],
    params: [{ name: 'A', value: '$VALUE' }],
  });
  const processEnv = { VALUE: 'two words" B=3' };
  await withEngine({ work: { call: calling([]), look }, findSubworkflow, processEnv }, async ({ start }) => {
    await start(parent).finished;
  });
  expect(seen).toEqual(['A=two words" B=3']);
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
    expect(message).toBe('run child-1 of workflow "child" ended failed: step "breaks": exit 5');
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
