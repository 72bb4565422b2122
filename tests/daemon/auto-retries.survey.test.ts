import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { type DaemonPlace, withDaemons } from '../support/daemon.ts';

const failing = (policy: string) => `retryPolicy: ${policy}
steps:
  - {name: kept, command: sh -c "echo kept >> ran"}
  - {name: fail, command: sh -c "echo fail >> ran; test -e repaired", depends: kept}
`;

test('a failed run of the daemon is retried until it succeeds, and its finished steps are kept', () =>
  withDaemons({ 'a.yaml': failing('{limit: 5, intervalSec: 0.2}') }, async (place) => {
    const { act } = await place.serve();
    await act('a', { action: 'start', 'request-id': 'first' });
    await expect.poll(async () => (await runsOf(place)).length, { timeout: 20_000 }).toBeGreaterThan(1);
    writeFileSync(join(place.cwd, 'repaired'), '');

    await expect.poll(async () => (await runsOf(place)).at(-1)?.status, { timeout: 20_000 }).toBe('succeeded');
    const runs = await runsOf(place);
    expect(runs.map(({ trigger, autoRetry }) => [trigger, autoRetry?.n])).toEqual(
      runs.map((_, index) => [index === 0 ? 'api' : 'retry', index]),
    );
    expect(runs.map(({ retryOf }) => retryOf)).toEqual([null, ...runs.slice(0, -1).map(({ runId }) => runId)]);
    const ran = readFileSync(join(place.cwd, 'ran'), 'utf8').split('\n');
    expect(ran.filter((line) => line === 'kept')).toHaveLength(1);
    expect(runs.at(-1)?.autoRetry?.at).toBe(null);
  }));

test('a run is not retried by hand while the daemon retries it', () =>
  withDaemons({ 'a.yaml': slowRetry }, async (place) => {
    const { act, url } = await place.serve();
    await act('a', { action: 'start', 'request-id': 'first' });
    await expect.poll(() => existsSync(join(place.cwd, 'again')), { timeout: 20_000 }).toBe(true);
    const retry = (await runsOf(place)).at(-1)?.runId;
    for (const access of [[], ['--server', url]]) {
      const { code, stdout, stderr } = await place.wf('retry', 'first', ...access);
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        `error: the daemon is already retrying run first, with run ${retry}\n` +
          `  help: wait for its end, or stop it first: wf stop ${retry}\n`,
      ]);
    }
    expect(await runsOf(place)).toHaveLength(2);
    await place.wf('stop', retry ?? '');
    expect((await place.wf('retry', 'first', '--run-id', 'second')).code).toBe(0);
  }));

/** Its step fails, waits until it is stopped, and then succeeds. */
const slowRetry = `retryPolicy: {limit: 1}
steps:
  - name: fail
    script: |
      if test -e again; then exit 0; fi
      if test -e begun; then touch again; exec sleep 60; fi
      touch begun; exit 1
`;

test('the limit ends the retries', () =>
  withDaemons({ 'a.yaml': failing('{limit: 1}') }, async (place) => {
    const { act } = await place.serve();
    await act('a', { action: 'start', 'request-id': 'first' });

    await expect
      .poll(async () => (await runsOf(place)).map(({ status }) => status), { timeout: 20_000 })
      .toEqual(['failed', 'failed']);
    expect((await runsOf(place)).map(({ autoRetry }) => [autoRetry?.n, autoRetry?.at !== null])).toEqual([
      [0, true],
      [1, false],
    ]);
    // A third run would start at once.
    await act('a', { action: 'start', 'request-id': 'second' });
    await expect.poll(async () => (await runsOf(place)).length, { timeout: 20_000 }).toBe(4);
  }));

test('a daemon that is killed during the wait leaves the retry to the next one, which starts it once', () =>
  withDaemons({ 'a.yaml': failing('{limit: 1, intervalSec: 4}') }, async (place) => {
    const first = await place.serve();
    await first.act('a', { action: 'start', 'request-id': 'first' });
    await first.process.until('retry 1 of 1 at');
    expect(await waitingIn(place)).toEqual(['first']);
    await first.end('SIGKILL');
    expect(await runsOf(place)).toHaveLength(1);

    const second = await place.serve();
    await expect.poll(async () => (await runsOf(place)).length, { timeout: 20_000 }).toBe(2);
    await expect.poll(() => waitingIn(place)).toEqual([]);
    await second.end('SIGKILL');
    // As if it had been killed before it noted the start.
    writeFileSync(join(dirname(place.runsDir), 'daemon', 'retries.json'), '["first"]\n');
    const third = await place.serve();
    await expect.poll(() => waitingIn(place), { timeout: 20_000 }).toEqual([]);
    expect(await runsOf(place)).toHaveLength(2);
    await third.end('SIGTERM');
  }));

test.each([
  ['last', false],
  ['and another run follows', true],
])('a run that a person retried is not retried again (%s)', (_, isFollowed) =>
  withDaemons(
    { 'a.yaml': failing('{limit: 1, intervalSec: 5}'), 'b.yaml': failing('{limit: 1, intervalSec: 5}') },
    async (place) => {
      const { act, process, get } = await place.serve();
      await act('a', { action: 'start', 'request-id': 'first' });
      await process.until('run first of "a" failed: retry 1 of 1 at');
      expect((await place.wf('retry', 'first')).code).toBe(1);
      if (isFollowed) {
        await place.wf('run', 'a.yaml');
        await get('/api/v2/workflows');
      }
      // Its retry is due after the other.
      await act('b', { action: 'start', 'request-id': 'later' });
      const all = () => place.json<readonly RunSummary[]>('history', '--limit', '20');
      const retriesOf = async (runId: string) => (await all()).filter(({ retryOf }) => retryOf === runId);
      await expect.poll(async () => (await retriesOf('later')).length, { timeout: 20_000 }).toBe(1);
      expect(await retriesOf('first')).toMatchObject([{ trigger: 'cli' }]);
    },
  ),
);

test('runs of wf run and stopped runs are not retried', () =>
  withDaemons(
    {
      'a.yaml': failing('{limit: 1}'),
      'wait.yaml': 'retryPolicy: {limit: 1}\nsteps:\n  - {name: wait, command: sleep 60}\n',
    },
    async (place) => {
      const { act } = await place.serve();
      await place.wf('run', 'a.yaml', '--run-id', 'direct');
      await act('wait', { action: 'start', 'request-id': 'stopped' });
      const read = () => place.json<RunSummary>('status', 'stopped');
      await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('running');
      await place.wf('stop', 'stopped');

      const direct = await place.json<RunSummary>('status', 'direct');
      expect([direct.status, direct.autoRetry]).toEqual(['failed', undefined]);
      expect((await read()).autoRetry).toEqual({ n: 0, limit: 1, at: null });
      await expect.poll(() => waitingIn(place), { timeout: 20_000 }).toEqual([]);
    },
  ));

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a run that fails after the %s of the daemon is retried by the next one',
  (signal) =>
    withDaemons(
      { 'a.yaml': failing('{limit: 1}').replace('fail >> ran', 'fail >> ran; until test -e go; do sleep 0.05; done') },
      async (place) => {
        const first = await place.serve();
        await first.act('a', { action: 'start', 'request-id': 'first' });
        await expect
          .poll(() => existsSync(join(place.cwd, 'ran')) && readFileSync(join(place.cwd, 'ran'), 'utf8'), {
            timeout: 20_000,
          })
          .toContain('fail');
        await first.end(signal);
        writeFileSync(join(place.cwd, 'go'), '');
        const read = () => place.json<RunSummary>('status', 'first');
        await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('failed');
        expect(await runsOf(place)).toHaveLength(1);

        await place.serve();
        await expect.poll(async () => (await runsOf(place)).length, { timeout: 20_000 }).toBe(2);
        expect((await runsOf(place))[1]).toMatchObject({ trigger: 'retry', retryOf: 'first' });
      },
    ),
);

test('a rejected run is not retried, and a failed one beside it is', () =>
  withDaemons(
    {
      'a.yaml': failing('{limit: 1}'),
      'ask.yaml': 'retryPolicy: {limit: 1}\nsteps:\n  - {name: go, approval: true}\n',
    },
    async (place) => {
      const { act } = await place.serve();
      await act('ask', { action: 'start', 'request-id': 'asked' });
      const read = () => place.json<RunSummary>('status', 'asked');
      await expect.poll(async () => (await read()).waitingFor, { timeout: 20_000 }).toEqual(['go']);
      expect((await place.wf('reject', 'asked', '--reason', 'no')).code).toBe(0);
      await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('failed');
      // Its retry would have started before that of a run which fails later.
      await act('a', { action: 'start', 'request-id': 'first' });
      await expect.poll(async () => (await runsOf(place)).length, { timeout: 20_000 }).toBe(2);
      expect((await read()).autoRetry).toEqual({ n: 0, limit: 1, at: null });
      const all = await place.json<readonly RunSummary[]>('history', '--limit', '20');
      expect(all.filter(({ retryOf }) => retryOf === 'asked')).toEqual([]);
    },
  ));

test('a run with a secret parameter is not retried, and the daemon logs the reason', () =>
  withDaemons(
    {
      'a.yaml': failing('{limit: 1}').replace('steps:', 'params: [{name: PIN, secret: true}]\nsteps:'),
    },
    async (place) => {
      const { act, process } = await place.serve();
      await act('a', { action: 'start', 'request-id': 'first', params: 'PIN=hidden-4711' });
      await process.until('is not retried');
      await expect.poll(() => waitingIn(place)).toEqual([]);
      expect(process.printed()).toMatch(/run first of "a" is not retried: .*PIN/);
      expect(process.printed()).not.toContain('hidden-4711');
      expect(await runsOf(place)).toHaveLength(1);
    },
  ));

/** Runs of the workflow `a`, oldest first. */
async function runsOf(place: DaemonPlace): Promise<readonly RunSummary[]> {
  const runs = await place.json<readonly RunSummary[]>('history', 'a.yaml', '--limit', '20');
  return [...runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}

/** The failed runs whose retries wait. */
async function waitingIn(place: DaemonPlace): Promise<unknown> {
  try {
    return JSON.parse(readFileSync(join(dirname(place.runsDir), 'daemon', 'retries.json'), 'utf8'));
  } catch {
    return [];
  }
}
