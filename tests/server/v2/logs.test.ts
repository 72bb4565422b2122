import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allRoutes } from '#server/routes.ts';
import type { History } from '#service/history/history.ts';
import type { StoredLogs } from '#store/logs.ts';
import { apiServer } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';
import { openStream } from '../../support/stream-client.ts';

const files = {
  'w.yaml': `params: DIR=
logOutput: separate
steps:
  - name: one
    command: sh -c 'echo one; echo two; echo err >&2; until [ -e "$DIR/go" ]; do sleep 0.02; done; printf three'
  - name: flaky
    command: sh -c 'echo attempt $WF_ATTEMPT; test $WF_ATTEMPT = 2'
    depends: one
    retryPolicy: {limit: 1, intervalSec: 0}
`,
};
const fiveGiB = 5 * 1024 ** 3;
const loopLag = () => ({ mean: 0, p99: 0, max: 0 });
const log = '/api/v2/runs/r/steps/one/logs';

test('a step is followed byte for byte until its run has finished', async () => {
  const world = await startedWorld();
  const stream = await openStream(world, `${log}?follow=true`);
  await stream.until('one\ntwo\n');
  const behind = await openStream(world, `${log}?follow&offset=4`);
  const err = await openStream(world, `${log}?follow=true&stream=stderr`);
  const beyond = await openStream(world, `${log}?follow=true&offset=1000`);
  go(world);

  expect([await stream.ended, stream.text()]).toEqual(['whole', 'one\ntwo\nthree']);
  expect([await behind.ended, behind.text()]).toEqual(['whole', 'two\nthree']);
  expect([await err.ended, err.text()]).toEqual(['whole', 'err\n']);
  expect([await beyond.ended, beyond.text()]).toEqual(['whole', 'three']);
});

test('later attempts are followed too, and so is a step that has not started', async () => {
  const world = await startedWorld();
  const stream = await openStream(world, '/api/v2/runs/r/steps/flaky/logs?follow=true');
  go(world);

  expect([await stream.ended, stream.text()]).toEqual(['whole', 'attempt 1\nattempt 2\n']);
  expect((await world.ask('GET', '/api/v2/runs/r/steps/flaky/logs?attempt=1')).body).toBe('attempt 1\n');
  expect((await world.ask('GET', '/api/v2/runs/r/steps/flaky/logs')).body).toBe('attempt 2\n');
});

test('all steps are followed line by line', async () => {
  const world = await startedWorld();
  const stream = await openStream(world, '/api/v2/runs/r/logs?follow=true');
  await stream.until('[one] two\n');
  const tail = await openStream(world, '/api/v2/runs/r/logs?follow=true&tail=1&stream=stdout&format=json');
  await tail.until('"two"');
  go(world);

  expect(await stream.ended).toBe('whole');
  expect(stream.text().split('\n').sort()).toEqual(
    [
      '',
      '[flaky] attempt 1',
      '[flaky] --- attempt 2 ---',
      '[flaky] attempt 2',
      '[one] err',
      '[one] one',
      '[one] three',
      '[one] two',
    ].sort(),
  );
  await tail.ended;
  const lines = tail
    .text()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).text);
  expect(lines).toEqual(['two', 'three', 'attempt 1', 'attempt 2']);
});

test('the last lines exclude those after which other streams printed', async () => {
  const world = await startedWorld();
  const tail = await openStream(world, '/api/v2/runs/r/logs?follow=true&tail=1&step=one');
  await tail.until('err\n');
  go(world);

  expect([await tail.ended, tail.text()]).toEqual(['whole', 'err\nthree\n']);
});

test('an unfinished line of a running step is not one of its last lines', async () => {
  const world = await startedWorld();
  const { out } = await logPaths(world);
  appendFileSync(out, 'half a line');
  const tail = '/api/v2/runs/r/logs?tail=1&step=one&stream=stdout';

  expect((await world.ask('GET', tail)).body).toBe('two\n');
  const followed = await openStream(world, `${tail}&follow=true`);
  await followed.until('two\n');
  go(world);
  expect([await followed.ended, followed.text()]).toEqual(['whole', 'two\nhalf a linethree\n']);
});

test('a disconnected client leaves no follower', async () => {
  const { app, ...world } = await startedWorld();
  let following = 0;
  const history = withLogs(app.history, (logs) => ({
    follow: (options) => {
      following += 1;
      const follower = logs.follow(options);
      const close = () => {
        following -= 1;
        follower.close();
      };
      return { ...follower, close };
    },
  }));
  const server = await apiServer(allRoutes({ ...app, history, loopLag }));
  const streams = await Promise.all([
    openStream(server, `${log}?follow=true`),
    openStream(server, '/api/v2/runs/r/logs?follow=true'),
  ]);
  await Promise.all(streams.map((stream) => stream.until('two')));

  expect(following).toBe(2);
  for (const stream of streams) stream.leave();
  await expect.poll(() => following).toBe(0);
  go(world);
});

test('a log of 5 GiB is sent in parts, from its end and as a stream, in little memory', async () => {
  const world = await overWorld();
  const { out } = await logPaths(world);
  truncateSync(out, fiveGiB);
  appendFileSync(out, '\nlast line\n');
  const before = process.memoryUsage().rss;

  const size = fiveGiB + 11;
  expect((await world.ask('HEAD', log)).headers['content-length']).toBe(String(size));
  const part = await world.ask('GET', log, { headers: { Range: `bytes=${fiveGiB + 1}-` } });
  expect([part.status, part.headers['content-range'], part.body]).toEqual([
    206,
    `bytes ${fiveGiB + 1}-${size - 1}/${size}`,
    'last line\n',
  ]);
  const tail = '/api/v2/runs/r/logs?step=one&stream=stdout&tail=1';
  expect((await world.ask('GET', tail)).body).toBe('last line\n');
  const most = { peak: 0 };
  await readSome(world, 150 * 1024 ** 2, () => {
    most.peak = Math.max(most.peak, process.memoryUsage().rss);
  });
  expect(most.peak - before).toBeLessThan(80 * 1024 ** 2);
});

test('only the end of a huge log without line ends is sent', async () => {
  const world = await overWorld();
  const { out } = await logPaths(world);
  truncateSync(out, fiveGiB);

  const { body } = await world.ask('GET', '/api/v2/runs/r/logs?step=one&stream=stdout&tail=3&format=json');
  expect(body.length).toBeGreaterThan(0);
  expect(body.length).toBeLessThan(40 * 1024 ** 2);
});

test('a log that is truncated while it is sent breaks the connection', async () => {
  const { app } = await overWorld();
  const history = withLogs(app.history, ({ file }) => ({
    file: (...name) => ({ ...file(...name), size: async () => 1000 }),
  }));
  const server = await apiServer(allRoutes({ ...app, history, loopLag }));
  const stream = await openStream(server, log, { Connection: 'keep-alive' });

  expect(await stream.ended).toBe('broken');
  expect(server.logged).toEqual([]);
});

test('control sequences and markup in a log are harmless to terminals and browsers', async () => {
  const world = await overWorld();
  const { out } = await logPaths(world);
  writeFileSync(out, '<script>alert(1)</script>\u001b]0;title\u0007\u001b[31mred\u001b[2J\n');

  const lines = await world.ask('GET', '/api/v2/runs/r/logs?step=one&stream=stdout');
  for (const sequence of ['\u0007', '\u001b]', '\u001b[2J']) expect(lines.body).not.toContain(sequence);
  const raw = await world.ask('GET', log);
  expect(raw.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
});

async function startedWorld(): Promise<ApiWorld> {
  const world = await apiWorld(files);
  const { status } = await world.ask('POST', '/api/v2/workflows/w/runs', {
    body: { runId: 'r', params: { DIR: world.directory } },
  });
  expect(status).toBe(201);
  await expect.poll(async () => (await world.ask('GET', log)).body).toBe('one\ntwo\n');
  return world;
}

async function overWorld(): Promise<ApiWorld> {
  const world = await startedWorld();
  go(world);
  await world.runs.settled();
  return world;
}

function go({ directory }: Pick<ApiWorld, 'directory'>): void {
  writeFileSync(join(directory, 'go'), '');
}

/** The same runs with other logs. */
function withLogs(history: History, change: (logs: StoredLogs) => Partial<StoredLogs>): History {
  const read: History['read'] = async (runId) => {
    const run = await history.read(runId);
    if (run === null || run.stored === null) return run;
    return { ...run, stored: { ...run.stored, logs: { ...run.stored.logs, ...change(run.stored.logs) } } };
  };
  return { ...history, read };
}

async function logPaths({ app }: ApiWorld): Promise<{ readonly out: string }> {
  const run = await app.history.read('r');
  return { out: run?.stored?.logs.file('one', 1, 'stdout').path ?? '' };
}

/** Reads the first bytes of the log and disconnects. */
async function readSome(world: ApiWorld, bytes: number, look: () => void): Promise<void> {
  const { message, leave } = await openStream(world, log);
  message.removeAllListeners('data');
  let read = 0;
  await new Promise<void>((resolve) => {
    message.on('data', (chunk: string) => {
      read += chunk.length;
      look();
      if (read >= bytes) resolve();
    });
  });
  leave();
}

const fanOut = `steps:
  - name: ship
    parallel: {items: [a, b, c], maxConcurrent: 1}
    command: sh -c 'echo "$ITEM $WF_ATTEMPT"; printf open; test "$ITEM$WF_ATTEMPT" != b1 && test $ITEM != c'
    retryPolicy: {limit: 1, intervalSec: 0}
`;
const firstAttempts = '--- ship[a] ---\na 1\nopen\n--- ship[b] ---\nb 1\nopen\n--- ship[c] ---\nc 1\nopen';
const joined = '--- ship[a] ---\na 1\nopen\n--- ship[b] ---\nb 2\nopen\n--- ship[c] ---\nc 2\nopen';

test('the log of a fan-out has the logs of its instances under headers, in ranges too', async () => {
  const world = await apiWorld({ 'fan.yaml': fanOut });
  await world.ask('POST', '/api/v2/workflows/fan/runs', { body: { runId: 'r' } });
  await world.runs.settled();
  const path = '/api/v2/runs/r/steps/ship/logs';
  const get = async (at: string, range?: string) =>
    (await world.ask('GET', at, range === undefined ? {} : { headers: { range } })).body;

  expect(await get(path)).toBe(joined);
  for (const [from, to] of [
    [0, 3],
    [10, 30],
    [25, joined.length - 1],
  ] as const) {
    expect(await get(path, `bytes=${from}-${to}`)).toBe(joined.slice(from, to + 1));
  }
  expect(await get(`${path}?attempt=1&offset=40`)).toBe(firstAttempts.slice(40));
  expect(await get('/api/v2/runs/r/steps/ship[b]/logs')).toBe('b 2\nopen');
  expect(await get('/api/v2/runs/r/steps/ship[1]/logs?attempt=1')).toBe('b 1\nopen');
  const index = JSON.parse(await get(`${path}/index`));
  expect([index.size, index.lines]).toEqual([joined.length, 9]);

  const view = JSON.parse(await get('/api/v2/runs/r/view'));
  const histories = view.steps[0].items.map(({ history }: { history?: { attempt: number; status: string }[] }) =>
    history?.map(({ attempt, status }) => `${attempt} ${status}`),
  );
  expect(histories).toEqual([undefined, ['1 failed', '2 succeeded'], ['1 failed', '2 failed']]);
});

test('one instance is retried by its name, and the others keep their results', async () => {
  const world = await apiWorld({ 'fan.yaml': fanOut });
  await world.ask('POST', '/api/v2/workflows/fan/runs', { body: { runId: 'r' } });
  await world.runs.settled();
  const { status } = await world.ask('POST', '/api/v2/runs/r/retry', { body: { runId: 'again', step: 'ship[c]' } });
  await world.runs.settled();

  expect(status).toBe(201);
  const { steps } = JSON.parse((await world.ask('GET', '/api/v2/runs/again')).body);
  const items = steps[0].items.map(({ key, status: now, attempts }: Record<string, unknown>) => [key, now, attempts]);
  expect(items).toEqual([
    ['a', 'succeeded', 0],
    ['b', 'succeeded', 0],
    ['c', 'failed', 2],
  ]);
  expect((await world.ask('GET', '/api/v2/runs/again/steps/ship/logs')).body).toBe('--- ship[c] ---\nc 2\nopen');
});
