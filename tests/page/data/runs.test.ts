import { expect, test } from 'vitest';
import type { RunFilter } from '#page/data/run-list.ts';
import { holdDaemon, requestOf, runHead } from './held-daemon.ts';

holdDaemon();
const { RunList } = await import('#page/data/run-list.ts');

const RUNS = 'GET /api/v2/runs';
const filter: RunFilter = {
  workflow: '',
  status: '',
  waiting: '',
  trigger: '',
  tag: '',
  queue: '',
  text: '',
  minDuration: '',
  from: '',
  to: '',
};

/** A list whose first page has a run, and that has a second page. */
async function listWith(runId: string) {
  const list = new RunList(filter);
  const reading = list.reload();
  (await requestOf(RUNS)).answer({ runs: [runHead(runId)], nextCursor: 'c' });
  await reading;
  return list;
}

test('a run that finishes while the list is read is not shown as running', async () => {
  const list = new RunList(filter);
  const reading = list.reload();
  const request = await requestOf(RUNS);
  list.take(runHead('r1', { status: 'succeeded' }));
  request.answer({ runs: [runHead('r1')], nextCursor: null });
  await reading;

  expect(list.runs.value).toEqual([runHead('r1', { status: 'succeeded' })]);
  expect(list.fresh.value).toBe(0);
});

test('a run that finishes while its page is read is not shown as running', async () => {
  const list = await listWith('r2');
  const reading = list.readMore();
  const request = await requestOf(RUNS);
  list.take(runHead('r2', { status: 'failed' }));
  list.take(runHead('r1', { status: 'succeeded' }));
  request.answer({ runs: [runHead('r1')], nextCursor: null });
  await reading;

  expect(list.runs.value?.map(({ runId, status }) => [runId, status])).toEqual([
    ['r2', 'failed'],
    ['r1', 'succeeded'],
  ]);
});

test('a run created while the list is read again stays new', async () => {
  const list = await listWith('r1');
  const reading = list.reload();
  const request = await requestOf(RUNS);
  list.take(runHead('r2', { createdAt: '2026-01-02T00:00:00Z' }));
  request.answer({ runs: [runHead('r1')], nextCursor: null });
  await reading;

  expect(list.fresh.value).toBe(1);
});

test('a new run that the response contains is not new', async () => {
  const list = await listWith('r1');
  const reading = list.reload();
  const request = await requestOf(RUNS);
  const created = runHead('r2', { createdAt: '2026-01-02T00:00:00Z' });
  list.take(created);
  request.answer({ runs: [created, runHead('r1')], nextCursor: null });
  await reading;

  expect(list.fresh.value).toBe(0);
});

test('an older run that begins to match is new, unless it is older than the loaded ones', async () => {
  const list = new RunList({ ...filter, status: 'failed' });
  const reading = list.reload();
  (await requestOf(RUNS)).answer({
    runs: [
      runHead('r9', { status: 'failed', createdAt: '2026-01-09T00:00:00Z' }),
      runHead('r5', { status: 'failed', createdAt: '2026-01-05T00:00:00Z' }),
    ],
    nextCursor: 'c',
  });
  await reading;
  const takeFailed = (runId: string, createdAt: string) => list.take(runHead(runId, { status: 'failed', createdAt }));

  takeFailed('r4', '2026-01-04T00:00:00Z');
  expect(list.fresh.value).toBe(0);
  takeFailed('r7', '2026-01-07T00:00:00Z');
  takeFailed('r7', '2026-01-07T00:00:00Z');
  expect(list.fresh.value).toBe(1);
});

test('a change of a run that is older than the first page is not new while that is read', async () => {
  const list = new RunList(filter);
  const reading = list.reload();
  const request = await requestOf(RUNS);
  list.take(runHead('r4', { createdAt: '2026-01-04T00:00:00Z' }));
  request.answer({ runs: [runHead('r5', { createdAt: '2026-01-05T00:00:00Z' })], nextCursor: 'c' });
  await reading;

  expect(list.fresh.value).toBe(0);
});

test('a new run that no longer matches is not new', async () => {
  const list = new RunList({ ...filter, status: 'running' });
  const reading = list.reload();
  (await requestOf(RUNS)).answer({ runs: [], nextCursor: null });
  await reading;
  list.take(runHead('r1'));
  list.take(runHead('r1', { status: 'succeeded' }));

  expect(list.fresh.value).toBe(0);
});

test('a run that is removed while the list is read does not return', async () => {
  const list = new RunList(filter);
  const reading = list.reload();
  const request = await requestOf(RUNS);
  list.remove('r1');
  request.answer({ runs: [runHead('r1')], nextCursor: null });
  await reading;

  expect(list.runs.value).toEqual([]);
});

test('the problem of an obsolete read does not replace the newer list', async () => {
  const list = new RunList(filter);
  const older = list.reload();
  const olderRequest = await requestOf(RUNS);
  const newer = list.reload();
  (await requestOf(RUNS)).answer({ runs: [runHead('r1')], nextCursor: null });
  await newer;
  olderRequest.answer({ detail: 'restarting' }, { status: 503 });
  await older;

  expect(list.problem.value).toBeNull();
  expect(list.runs.value).toEqual([runHead('r1')]);
});

test('the problem of the current read is shown', async () => {
  const list = new RunList(filter);
  const reading = list.reload();
  (await requestOf(RUNS)).answer({ detail: 'restarting' }, { status: 503 });
  await reading;

  expect(list.problem.value).toMatchObject({ message: 'restarting', status: 503 });
  expect(list.isReading.value).toBe(false);
});

test('a list that is read again has as many runs as before, as far as one response can', async () => {
  const list = new RunList(filter, { runs: Array.from({ length: 300 }, (_, at) => runHead(`r${at}`)), cursor: 'c' });
  const reading = list.reload();
  const again = await requestOf(RUNS);
  expect([again.query.get('limit'), again.query.get('cursor')]).toEqual(['300', null]);
  again.answer({ runs: [runHead('r1')], nextCursor: 'd' });
  await reading;
  const older = list.readMore();
  const request = await requestOf(RUNS);
  expect([request.query.get('limit'), request.query.get('cursor')]).toEqual(['100', 'd']);
  request.answer({ runs: Array.from({ length: 600 }, (_, at) => runHead(`s${at}`)), nextCursor: null });
  await older;
  void list.reload();

  expect((await requestOf(RUNS)).query.get('limit')).toBe('500');
});

test('a list begins with the runs of an earlier one, and can be read on', async () => {
  const earlier = (await listWith('r1')).close();
  const list = new RunList(filter, earlier);

  expect(list.runs.value).toEqual([runHead('r1')]);
  expect(list.hasMore.value).toBe(true);
  void list.readMore();
  expect((await requestOf(RUNS)).query.get('cursor')).toBe('c');
});
