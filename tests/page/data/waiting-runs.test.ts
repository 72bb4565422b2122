import { expect, test } from 'vitest';
import { holdDaemon, requestOf, runHead } from './held-daemon.ts';

holdDaemon();
const { WaitingRuns } = await import('#page/data/shown-run.ts');

const RUNS = 'GET /api/v2/runs';
const waitingRun = runHead('s1', { trigger: 'workflow', waitingFor: ['approve'] });

test('a sub-run that starts to wait while they are read is kept', async () => {
  const waiting = new WaitingRuns();
  const loading = waiting.load();
  const request = await requestOf(RUNS);
  waiting.take(waitingRun);
  request.answer({ runs: [], nextCursor: null });
  await loading;

  expect([...waiting.runs.value]).toEqual([['s1', waitingRun]]);
});

test('a sub-run that is approved while they are read is not shown as waiting', async () => {
  const waiting = new WaitingRuns();
  const loading = waiting.load();
  const request = await requestOf(RUNS);
  waiting.take(runHead('s1', { trigger: 'workflow' }));
  request.answer({ runs: [waitingRun], nextCursor: null });
  await loading;

  expect(waiting.runs.value.size).toBe(0);
});

test('an older response does not replace a newer one', async () => {
  const waiting = new WaitingRuns();
  const older = waiting.load();
  const olderRequest = await requestOf(RUNS);
  const newer = waiting.load();
  (await requestOf(RUNS)).answer({ runs: [waitingRun], nextCursor: null });
  await newer;
  olderRequest.answer({ runs: [], nextCursor: null });
  await older;

  expect([...waiting.runs.value.keys()]).toEqual(['s1']);
});
