import { effect } from '@preact/signals';
import { expect, test } from 'vitest';
import type { RunHead, RunView, StepView } from '#run-view/api/types.ts';
import { heldCount, holdDaemon, openedStreams, requestOf, runHead, sendEvent } from './held-daemon.ts';

holdDaemon();
const { ShownRun } = await import('#page/data/shown-run.ts');

const VIEW = 'GET /api/v2/runs/r1/view';

function viewOf(status: RunHead['status']): RunView {
  const view: Partial<RunView> = { run: runHead('r1', { status }), steps: [], handlers: [], warnings: [] };
  return view as RunView;
}

test('the view that was requested first does not replace the newer one', async () => {
  const run = new ShownRun('r1');
  const older = run.reload();
  const olderRequest = await requestOf(VIEW);
  const newer = run.reload();
  (await requestOf(VIEW)).answer(viewOf('succeeded'));
  await newer;
  olderRequest.answer(viewOf('running'));
  await older;

  expect(run.view.value?.run.status).toBe('succeeded');
  expect(run.head.value?.status).toBe('succeeded');
});

test('a run is requested once, and its stream begins after the view', async () => {
  const run = new ShownRun('r1');
  const stop = run.follow();
  (await requestOf(VIEW)).answer(viewOf('running'), { cursor: '5f0c.17.4' });
  await expect.poll(() => run.head.value?.status).toBe('running');
  sendEvent('daemon', { version: '1.0.0' }, '5f0c.17.4');
  sendEvent('daemon', { version: '1.0.0' }, '5f0c.17.4');
  await expect.poll(openedStreams).toEqual([{ query: '?run=r1&instances=changed&after=5f0c.17.4', isClosed: false }]);
  expect(heldCount()).toBe(0);

  // The daemon no longer knows that cursor.
  sendEvent('reset', { why: 'unknown' }, '7abc.1.4');
  (await requestOf(VIEW)).answer(viewOf('succeeded'), { cursor: '7abc.1.9' });
  await expect.poll(() => run.head.value?.status).toBe('succeeded');
  stop();
});

test('the problem of a view that was requested first does not replace the newer one', async () => {
  const run = new ShownRun('r1');
  const older = run.reload();
  const olderRequest = await requestOf(VIEW);
  const newer = run.reload();
  (await requestOf(VIEW)).answer(viewOf('succeeded'));
  await newer;
  olderRequest.answer({ detail: 'restarting' }, { status: 503 });
  await older;

  expect(run.problem.value).toBeNull();
});

test('the status of a run changes together with the list of its steps', async () => {
  const run = new ShownRun('r1');
  const step = (status: StepView['status']) => ({ name: 'one', status, history: [] }) as unknown as StepView;
  const stop = run.follow();
  (await requestOf(VIEW)).answer({ ...viewOf('running'), steps: [step('running')] });
  await expect.poll(() => run.head.value?.status).toBe('running');
  const shown: unknown[] = [];
  const end = effect(() => void shown.push([run.head.value?.status, run.steps.value[0]?.status]));
  sendEvent('run', runHead('r1', { status: 'succeeded' }));
  sendEvent('step', { runId: 'r1', step: step('succeeded') });
  await expect.poll(() => run.head.value?.status).toBe('succeeded');
  end();
  stop();

  expect(shown).toEqual([
    ['running', 'running'],
    ['succeeded', 'succeeded'],
  ]);
});

test('an event is newer than the view that was requested before it, and older than the view requested after it', async () => {
  const run = new ShownRun('r1');
  const stop = run.follow();
  (await requestOf(VIEW)).answer(viewOf('queued'));
  await expect.poll(() => run.head.value?.status).toBe('queued');
  const first = run.reload();
  const firstRequest = await requestOf(VIEW);
  sendEvent('run', runHead('r1', { status: 'running' }));
  const second = run.reload();
  const secondRequest = await requestOf(VIEW);
  firstRequest.answer(viewOf('queued'));
  await first;
  const statusBetween = run.head.value?.status;
  secondRequest.answer(viewOf('succeeded'));
  await second;
  stop();

  expect([statusBetween, run.head.value?.status]).toEqual(['running', 'succeeded']);
});
