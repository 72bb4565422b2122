import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LockEntry } from '#service/service.ts';
import { apiWorld } from '../../../support/api-world.ts';
import { withDaemons } from '../../../support/daemon.ts';

const quick = 'steps: [{name: a, command: "true"}]\n';

test('the schedule lists the starts and stops of a window, and which are suspended', async () => {
  const files = {
    'daily.yaml': `schedule: "CRON_TZ=UTC 0 3 * * *"\n${quick}`,
    'hourly.yaml': `schedule: {start: "CRON_TZ=UTC 30 * * * *", stop: "CRON_TZ=UTC 0 12 1 3 *"}\n${quick}`,
    'minutes.yaml': `schedule: "* * * * *"\n${quick}`,
  };
  await withDaemons(files, async ({ serve, cwd }) => {
    const { get, url, end } = await serve();
    const [, before] = /^id: (.*)$/m.exec(await get('/api/v2/events?follow=false')) ?? [];
    const put = await fetch(`${url}/api/v2/workflows/minutes/suspended`, {
      method: 'PUT',
      body: JSON.stringify({ suspended: true }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(put.status).toBe(200);
    const window = 'from=2026-03-01T02:59:00Z&to=2026-03-01T03:01:00Z';
    await expect
      .poll(async () => JSON.parse(await get(`/api/v2/schedule?${window}`)).moments)
      .toEqual([
        {
          at: '2026-03-01T02:59:00.000Z',
          kind: 'start',
          workflow: 'minutes.yaml',
          file: join(cwd, 'minutes.yaml'),
          suspended: true,
        },
        {
          at: '2026-03-01T03:00:00.000Z',
          kind: 'start',
          workflow: 'daily.yaml',
          file: join(cwd, 'daily.yaml'),
          suspended: false,
        },
        {
          at: '2026-03-01T03:00:00.000Z',
          kind: 'start',
          workflow: 'minutes.yaml',
          file: join(cwd, 'minutes.yaml'),
          suspended: true,
        },
        {
          at: '2026-03-01T03:01:00.000Z',
          kind: 'start',
          workflow: 'minutes.yaml',
          file: join(cwd, 'minutes.yaml'),
          suspended: true,
        },
      ]);
    const events = await get(`/api/v2/events?follow=false&after=${before}`);
    const [, schedule = 'no event'] = /event: schedule\ndata: (.*)/.exec(events) ?? [];
    expect(JSON.parse(schedule)).toMatchObject({ more: true, missed: 0, moments: { length: 50 } });
    expect(schedule).toContain('"suspended":true');
    const week = JSON.parse(await get('/api/v2/schedule?from=2026-03-01'));
    expect([week.moments.length, week.more, week.to]).toEqual([1000, true, '2026-03-08T00:00:00.000Z']);
    const stops = week.moments.filter(({ kind }: { kind: string }) => kind === 'stop');
    expect(stops).toMatchObject([{ at: '2026-03-01T12:00:00.000Z', workflow: 'hourly.yaml' }]);
    expect((await fetch(`${url}/api/v2/schedule?from=2026-03-02&to=2026-03-01`)).status).toBe(400);
    await end('SIGTERM');
  });
});

test('the queue lists running and waiting runs in order', async () => {
  const slow = 'steps: [{name: a, command: sleep 60}]\n';
  await withDaemons({ 'slow.yaml': slow }, async ({ serve }) => {
    const { url, get, end } = await serve('--max-concurrent-runs', '1', '--on-shutdown', 'stop');
    const start = (runId: string) =>
      fetch(`${url}/api/v2/workflows/slow/runs`, { method: 'POST', body: new URLSearchParams({ runId }) });
    const [, before] = /^id: (.*)$/m.exec(await get('/api/v2/events?follow=false')) ?? [];
    for (const runId of ['r1', 'r2', 'r3']) expect((await start(runId)).status).toBe(201);

    const queue = async () => {
      const { limit, running, waiting } = JSON.parse(await get('/api/v2/queue'));
      const ids = (runs: readonly { runId: string; status: string }[]) => runs.map((run) => [run.runId, run.status]);
      return [limit, ids(running), ids(waiting)];
    };
    const waiting = [
      ['r2', 'queued'],
      ['r3', 'queued'],
    ];
    await expect.poll(queue, { timeout: 20_000 }).toEqual([1, [['r1', 'running']], waiting]);
    const [, data = 'no event'] =
      /event: queue\ndata: (.*)/.exec(await get(`/api/v2/events?follow=false&after=${before}`)) ?? [];
    expect(JSON.parse(data)).toEqual({ limit: 1, running: ['r1'], waiting: ['r2', 'r3'] });
    for (const runId of ['r3', 'r2', 'r1']) await fetch(`${url}/api/v2/runs/${runId}/stop`, { method: 'POST' });
    await expect.poll(queue, { timeout: 20_000 }).toEqual([1, [], []]);
    await end('SIGTERM');
  });
});

test('the daemon returns its information and settings without secrets', async () => {
  const login = { token: 'the-token-of-this-test', readOnlyToken: 'look-only', basic: null };
  const { ask, dags } = await apiWorld({}, { login });
  const get = async (path: string, token: string) =>
    JSON.parse((await ask('GET', path, { headers: { Authorization: `Bearer ${token}` } })).body);

  expect(await get('/api/v2/info', 'look-only')).toMatchObject({
    pid: process.pid,
    node: process.version,
    access: 'read',
    eventLoopLagMs: { mean: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) },
    disk: { totalBytes: expect.any(Number), freeBytes: expect.any(Number) },
  });
  expect((await get('/api/v2/info', login.token)).access).toBe('write');
  const { hours } = await get('/api/v2/activity?hours=2', 'look-only');
  expect(hours).toEqual([
    { from: expect.stringMatching(/:00:00.000Z$/), statuses: {} },
    { from: expect.stringMatching(/:00:00.000Z$/), statuses: {} },
  ]);
  const { settings, places } = await get('/api/v2/config', 'look-only');
  expect(places.workflows).toBe(dags);
  expect(settings).toContainEqual(expect.objectContaining({ key: 'dags', value: dags }));
});

test('only a waiting run can be moved to the front of the queue', async () => {
  await withDaemons({ 'slow.yaml': 'steps: [{name: a, command: sleep 30}]\n' }, async ({ serve }) => {
    const { get, url } = await serve('--max-concurrent-runs', '1', '--on-shutdown', 'stop');
    const send = async (method: string, path: string, body: object) => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(`${url}/api/v2/${path}`, { method, headers, body: JSON.stringify(body) });
      return { status: answer.status, body: await answer.json() };
    };
    const first = { position: 'first' };
    for (const runId of ['run-1', 'run-2', 'run-3']) await send('POST', 'workflows/slow/runs', { runId });
    const order = async () => {
      const { running, waiting } = JSON.parse(await get('/api/v2/queue'));
      return [...running, ...waiting].map(({ runId }: { runId: string }) => runId);
    };
    await expect.poll(order).toEqual(['run-1', 'run-2', 'run-3']);

    const moved = await send('PUT', 'queue/run-3', first);
    expect([moved.status, moved.body.waiting.map(({ runId }: { runId: string }) => runId)]).toEqual([
      200,
      ['run-3', 'run-2'],
    ]);
    expect(await order()).toEqual(['run-1', 'run-3', 'run-2']);
    expect((await send('PUT', 'queue/run-1', first)).body.detail).toBe('the run run-1 does not wait');
    expect((await send('PUT', 'queue/run-9', first)).status).toBe(404);
    expect((await send('PUT', 'queue/run-2', { position: 'last' })).status).toBe(400);
    for (const runId of ['run-2', 'run-3', 'run-1']) await send('POST', `runs/${runId}/stop`, {});
    await expect.poll(order).toEqual([]);
  });
});

test('locks in use are listed, counted as metrics, and printed by wf locks', async () => {
  const slow = 'steps: [{name: a, locks: db, command: sleep 60}]\n';
  await withDaemons({ 'slow.yaml': slow }, async ({ serve, json }) => {
    const { url, get, end } = await serve('--on-shutdown', 'stop');
    const start = (runId: string) =>
      fetch(`${url}/api/v2/workflows/slow/runs`, { method: 'POST', body: new URLSearchParams({ runId }) });
    const uses = async () => {
      const { locks } = JSON.parse(await get('/api/v2/locks'));
      const ids = (list: readonly { runId: string }[]) => list.map(({ runId }) => runId);
      return locks.map((lock: LockEntry) => [lock.kind, lock.name, lock.slots, ids(lock.holders), ids(lock.waiters)]);
    };
    expect(await uses()).toEqual([]);
    expect((await start('r1')).status).toBe(201);
    await expect.poll(uses, { timeout: 20_000 }).toEqual([['lock', 'db', 1, ['r1'], []]]);
    expect(await get('/metrics')).not.toContain('wf_lock_waiters{');
    expect((await start('r2')).status).toBe(201);
    await expect.poll(uses, { timeout: 20_000 }).toEqual([['lock', 'db', 1, ['r1'], ['r2']]]);
    const metrics = await get('/metrics');
    expect(metrics).toContain('wf_lock_waiters{kind="lock",lock="db"} 1\n');
    expect(metrics).toMatch(/^wf_lock_wait_seconds\{kind="lock",lock="db"\} \d/m);
    expect(await json<unknown>('locks', '--server', url)).toEqual(JSON.parse(await get('/api/v2/locks')));
    await end('SIGTERM');
  });
});
