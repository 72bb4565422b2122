import { afterEach, expect, test } from 'vitest';
import type { Workflow } from '#run-view/api/types.ts';
import { heldCount, holdDaemon, requestOf, runHead, sendEvent } from './held-daemon.ts';

holdDaemon();
const list = await import('#page/data/workflows/all-workflows.ts');

const WORKFLOWS = 'GET /api/v2/workflows';

function workflowOf(file: string, status: 'running' | 'succeeded' = 'running'): Workflow {
  const workflow: Partial<Workflow> = { file, name: file, lastRun: runHead('r1', { status }) };
  return workflow as Workflow;
}

/** The files of the list with the statuses of their last runs. */
function shown() {
  return list.workflows.value?.map(({ file, lastRun }) => [file, lastRun?.status]);
}

let stop = () => {};

/** Reads a list of workflows, and follows its changes. */
async function follow(...files: readonly string[]) {
  stop = list.followWorkflows();
  const reading = list.readWorkflows();
  (await requestOf(WORKFLOWS)).answer({ workflows: files.map((file) => workflowOf(file)), nextCursor: null });
  await reading;
}

afterEach(() => stop());

test('a last run that finishes while the workflows are read is not shown as running', async () => {
  await follow('a', 'b');
  const reading = list.readWorkflows();
  const request = await requestOf(WORKFLOWS);
  sendEvent('workflow', workflowOf('b', 'succeeded'));
  request.answer({ workflows: [workflowOf('a'), workflowOf('b')], nextCursor: null });
  await reading;

  expect(shown()).toEqual([
    ['a', 'running'],
    ['b', 'succeeded'],
  ]);
});

test('a workflow that is removed while the workflows are read does not return', async () => {
  await follow('a', 'b');
  const reading = list.readWorkflows();
  const request = await requestOf(WORKFLOWS);
  sendEvent('workflow.removed', { file: 'a' });
  request.answer({ workflows: [workflowOf('a'), workflowOf('b')], nextCursor: null });
  await reading;

  expect(shown()).toEqual([['b', 'running']]);
});

test('a suspension that is undone before its response is requested twice, in this order', async () => {
  const Suspended = 'PUT /api/v2/workflows/a/suspended';
  const first = list.suspendSchedule('a', { suspended: true });
  const second = list.suspendSchedule('a', { suspended: false });
  const request = await requestOf(Suspended);
  expect(heldCount()).toBe(0);
  request.answer({ detail: 'the disk is full' }, { status: 503 });
  await expect(first).rejects.toThrow('the disk is full');
  (await requestOf(Suspended)).answer({ suspended: false, until: null });
  expect(await second).toEqual({ suspended: false, until: null });
});

test('an older response does not replace a newer one', async () => {
  await follow('a');
  const older = list.readWorkflows();
  const olderRequest = await requestOf(WORKFLOWS);
  const newer = list.readWorkflows();
  (await requestOf(WORKFLOWS)).answer({ workflows: [workflowOf('a', 'succeeded'), workflowOf('b')], nextCursor: null });
  await newer;
  olderRequest.answer({ workflows: [workflowOf('a')], nextCursor: null });
  await older;

  expect(shown()).toEqual([
    ['a', 'succeeded'],
    ['b', 'running'],
  ]);
});

test('an older problem does not replace a newer response', async () => {
  await follow('a');
  const older = list.readWorkflows();
  const olderRequest = await requestOf(WORKFLOWS);
  const newer = list.readWorkflows();
  (await requestOf(WORKFLOWS)).answer({ workflows: [workflowOf('b')], nextCursor: null });
  await newer;
  olderRequest.answer({ detail: 'restarting' }, { status: 503 });
  await older;

  expect(list.workflowsProblem.value).toBeNull();
  expect(shown()).toEqual([['b', 'running']]);
});

test('a new workflow is read at its position', async () => {
  await follow('b');
  sendEvent('workflow', workflowOf('a'));
  (await requestOf(WORKFLOWS)).answer({ workflows: [workflowOf('a'), workflowOf('b')], nextCursor: null });

  await expect.poll(shown).toEqual([
    ['a', 'running'],
    ['b', 'running'],
  ]);
});
