import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DaemonChanges } from '#daemon/live-changes.ts';
import type { RunListener } from '#daemon/run-index.ts';
import { allRoutes } from '#server/routes.ts';
import { apiServer } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';
import { answerCheck } from '../../../support/described-answers.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { openStream, type Stream } from '../../../support/stream-client.ts';

const quick = 'steps: [{name: a, command: "true"}]\n';
/** A step that prints and waits for a file, then one that fails twice, then a handler. */
const gated = `params: DIR=
steps:
  - name: one
    command: sh -c 'echo one; until [ -e "$DIR/go" ]; do sleep 0.02; done; echo done'
  - name: two
    command: sh -c 'echo two >&2; exit 3'
    depends: one
    retryPolicy: {limit: 1, intervalSec: 0}
handlerOn:
  exit: {command: echo bye}
`;
const noSchedule = () => null;
const loopLag = () => ({ mean: 0, p99: 0, max: 0 });

type Told = { readonly id: string | null; readonly event: string; readonly data: Record<string, unknown> };

test('starts with the daemon, then sends a run and its workflow until the run has finished', async () => {
  const world = await apiWorld({ 'a.yaml': quick });
  const stream = await openStream(world, '/api/v2/events');
  await stream.until('event: daemon');
  expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');

  await start(world, 'a', 'r');
  await stream.until('"status":"succeeded"');
  await stream.until(
    `"lastRun":{"runId":"r","workflow":"a","group":"","file":"${join(world.dags, 'a.yaml')}","status":"succeeded"`,
  );

  const told = eventsIn(stream);
  expect(told[0]).toMatchObject({ event: 'daemon', data: { version: '', running: 0, queued: 0, awaitingApproval: 0 } });
  expect(told.every(({ id }) => id !== null)).toBe(true);
  const { runs } = JSON.parse((await world.ask('GET', '/api/v2/runs')).body);
  const { steps: _, handlers: __, warnings: ___, ...head } = runs[0];
  expect(told.findLast(({ event }) => event === 'run')?.data).toEqual(head);
  const { workflows } = JSON.parse((await world.ask('GET', '/api/v2/workflows')).body);
  expect(told.findLast(({ event }) => event === 'workflow')?.data).toEqual(workflows[0]);
  expectDescribed(stream);
  stream.leave();
});

test('sends events for added, changed and removed files and for suspensions', async () => {
  const world = await apiWorld({ 'a.yaml': `schedule: "0 5 * * *"\n${quick}` });
  const stream = await openStream(world, '/api/v2/events');
  await stream.until('event: daemon');

  writeFileSync(join(world.dags, 'b.yaml'), quick);
  await world.app.catalog.refresh();
  await stream.until('"id":"b.yaml"');
  world.app.workflows.suspend(join(world.dags, 'a.yaml'), Number.POSITIVE_INFINITY);
  await stream.until('"suspended":true');
  rmSync(join(world.dags, 'b.yaml'));
  await world.app.catalog.refresh();
  await stream.until('event: workflow.removed');

  const names = eventsIn(stream).map(({ event, data }) => [event, data['id'] ?? data['file'] ?? null]);
  expect(names).toEqual([
    ['daemon', null],
    ['workflow', 'b.yaml'],
    ['workflow', 'a.yaml'],
    ['workflow.removed', join(world.dags, 'b.yaml')],
  ]);
  expectDescribed(stream);
  stream.leave();
});

test('sends a workflow whose suspension a list has shown, although it was undone at once', async () => {
  const world = await apiWorld({ 'a.yaml': quick });
  const stream = await openStream(world, '/api/v2/events');
  await stream.until('event: daemon');
  const suspend = async (suspended: boolean) =>
    expect((await world.ask('PUT', '/api/v2/workflows/a/suspended', { body: { suspended } })).status).toBe(200);

  await suspend(true);
  const list = JSON.parse((await world.ask('GET', '/api/v2/workflows')).body);
  expect(list.workflows).toMatchObject([{ id: 'a.yaml', suspended: true }]);
  await suspend(false);
  await stream.until('"suspended":false');
  expect(eventsIn(stream).at(-1)).toMatchObject({ event: 'workflow', data: { id: 'a.yaml', suspended: false } });
  stream.leave();
});

test('sends a workflow whose id changes because another file has its name', async () => {
  const world = await apiWorld({ 'a.yaml': quick, 'b.yaml': quick });
  const stream = await openStream(world, '/api/v2/events');
  await stream.until('event: daemon');

  mkdirSync(join(world.dags, 'ops'));
  writeFileSync(join(world.dags, 'ops/a.yaml'), quick);
  await world.app.catalog.refresh();
  await stream.until('"id":"/a.yaml"');
  rmSync(join(world.dags, 'ops/a.yaml'));
  await world.app.catalog.refresh();
  await stream.until('"id":"a.yaml"');

  const files = eventsIn(stream).flatMap(({ event, data }) => (event === 'workflow' ? [data['file']] : []));
  expect(files).not.toContain(join(world.dags, 'b.yaml'));
  stream.leave();
});

test('sends an event when a run is removed', async () => {
  const world = await apiWorld({ 'a.yaml': quick });
  await start(world, 'a', 'r');
  const stream = await openStream(world, '/api/v2/events');
  await stream.until('event: daemon');

  rmSync(join(world.directory, 'home/runs/r'), { recursive: true });
  await stream.until('event: run.removed\ndata: {"runId":"r"}');
  await stream.until('"lastRun":null');
  stream.leave();
});

test('also sends the steps, logs and later marks of the selected run', async () => {
  const world = await apiWorld({ 'gated.yaml': gated });
  const { stream } = await gatedRun(world);
  await stream.until('"stream":"output","size":4');
  go(world);
  await world.runs.settled();
  await stream.until('"status":"failed","reason":"step"');
  await stream.until('"name":"handlerOn.exit","status":"succeeded"');

  const view = JSON.parse((await world.ask('GET', '/api/v2/runs/r/view')).body);
  const told = eventsIn(stream);
  const lastOf = (name: string) =>
    told.findLast(({ event, data }) => event === 'step' && (data['step'] as { name: string }).name === name)?.data;
  for (const step of [...view.steps, ...view.handlers]) expect(lastOf(step.name)).toEqual({ runId: 'r', step });
  const sizes = told.filter(({ event }) => event === 'log').map(({ data }) => data);
  expect(sizes).toContainEqual({ runId: 'r', step: 'one', attempt: 1, stream: 'output', size: 9 });
  expect(sizes).toContainEqual({ runId: 'r', step: 'two', attempt: 2, stream: 'output', size: 4 });
  expectDescribed(stream);

  await world.ask('POST', '/api/v2/runs/r/steps/two/mark', { body: { status: 'succeeded' } });
  await stream.until('"name":"two","status":"succeeded"');
  stream.leave();
});

test('a client that reconnects gets the sizes of running logs as they grow', async () => {
  const world = await apiWorld({
    'gated.yaml': `params: DIR=
steps:
  - name: one
    command: sh -c 'echo one; until [ -e "$DIR/go" ]; do sleep 0.02; done; echo two; until [ -e "$DIR/end" ]; do sleep 0.02; done'
`,
  });
  const { stream } = await gatedRun(world);
  await stream.until('"stream":"output","size":4');
  stream.leave();
  const again = await openStream(world, '/api/v2/events?run=r', { 'Last-Event-ID': lastId(stream) });
  await again.until('event: daemon');
  go(world);
  await again.until('"stream":"output","size":8');
  writeFileSync(join(world.directory, 'end'), '');
  await world.runs.settled();
  again.leave();
});

test('sends only the changed instances of a fan-out to a client that requests this', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
  const command = `sh -c 'case $ITEM in n1?) ;; *) until [ -e "$DIR/go" ]; do sleep 0.02; done;; esac'`;
  const fanOut = `params: DIR=\nsteps:\n  - name: all\n    parallel: {items: [${names}], maxConcurrent: 40}\n    command: ${command}\n`;
  const world = await apiWorld({ 'gated.yaml': fanOut });
  const { stream } = await gatedRun(world, '&instances=changed');
  await stream.until('"partial":true');
  go(world);
  await world.runs.settled();
  await stream.until('"status":"succeeded","reason":null');
  await stream.until('"name":"all","status":"succeeded"');

  const [view] = JSON.parse((await world.ask('GET', '/api/v2/runs/r/view')).body).steps;
  const steps = eventsIn(stream).filter(({ event }) => event === 'step');
  const partial = steps.filter(({ data }) => data['partial'] === true).map(({ data }) => data['step'] as typeof view);
  expect(partial.length).toBeGreaterThan(0);
  expect(partial.some(({ items }) => items.length < names.length)).toBe(true);
  const known = new Map<number, unknown>();
  for (const { items = [] } of steps.map(({ data }) => data['step'] as typeof view))
    for (const item of items) known.set(item.index, item);
  expect(names.map((_, index) => known.get(index))).toEqual(view.items);
  expectDescribed(stream);
  stream.leave();
});

test('a client that reconnects receives each missed change once', async () => {
  const world = await apiWorld({ 'gated.yaml': gated, 'a.yaml': quick });
  const first = await gatedRun(world);
  await first.stream.until('"stream":"output","size":4');
  first.stream.leave();
  await first.stream.ended;
  const cursor = lastId(first.stream);
  go(world);
  for (const id of ['x', 'y', 'z']) await start(world, 'a', id);
  await world.runs.settled();

  const again = await openStream(world, '/api/v2/events?run=r', { 'Last-Event-ID': cursor });
  await again.until('"name":"handlerOn.exit"');
  const told = eventsIn(again);
  const named = told.map(({ event, data }) => [
    event,
    (data['id'] ?? data['step'] === undefined)
      ? (data['id'] ?? data['runId'] ?? null)
      : ((data['step'] as { name?: string }).name ?? data['step']),
  ]);
  expect(named.filter(([event]) => event === 'run').sort()).toEqual(['r', 'x', 'y', 'z'].map((id) => ['run', id]));
  expect(named.filter(([event]) => event === 'workflow').sort()).toEqual([
    ['workflow', 'a.yaml'],
    ['workflow', 'gated.yaml'],
  ]);
  expect(named.filter(([event]) => event === 'step')).toEqual(
    ['one', 'two', 'handlerOn.exit'].map((name) => ['step', name]),
  );
  expect(named.map(([event]) => event)).not.toContain('reset');
  again.leave();

  const end = await world.ask('GET', `/api/v2/events?run=r&after=${lastId(again)}`);
  expect(eventsOf(end.body).map(({ event }) => event)).toEqual(['daemon']);
});

test('sends the queue and the schedule when they change', async () => {
  const { app, ...world } = await apiWorld({ 'a.yaml': `schedule: "0 5 * * *"\n${quick}` });
  const file = join(world.dags, 'a.yaml');
  let queue = { limit: Number.POSITIVE_INFINITY, running: ['r1'], waiting: ['r2', 'r3'] };
  let stamp = 'first';
  const at = new Date('2026-03-01T05:00:00Z');
  const parts = {
    ...app,
    queue: () => queue,
    moments: async (_from: number, _to: number, limit: number) => Array(limit).fill({ file, kind: 'start', at }),
    missed: () => 3,
  };
  const changes = new DaemonChanges({ ...parts, daemon: app.changes.daemon, scheduleStamp: () => stamp, report: fail });
  const server = await apiServer(allRoutes({ ...parts, changes, loopLag }));
  const stream = await openStream(server, '/api/v2/events');
  await stream.until('event: daemon');

  queue = { limit: 4, running: ['r2'], waiting: ['r3'] };
  await stream.until('event: queue');
  stamp = 'second';
  await stream.until('event: schedule');
  app.workflows.suspend(file, Number.POSITIVE_INFINITY);
  await stream.until('"suspended":true}');

  const told = eventsIn(stream).filter(({ event }) => event !== 'workflow');
  expect(told.map(({ event }) => event)).toEqual(['daemon', 'queue', 'schedule', 'schedule']);
  expect(told[1]?.data).toEqual(queue);
  const moment = { at: at.toISOString(), kind: 'start', workflow: 'a.yaml', file, suspended: true };
  expect(told[3]?.data).toMatchObject({ moments: Array(50).fill(moment), more: true, missed: 3 });
  expectDescribed(stream);
  stream.leave();
});

test('an unknown or too old cursor is answered with "reset"', async () => {
  const { app, ...world } = await apiWorld({ 'a.yaml': quick });
  let tell: RunListener = () => {};
  const runIndex = { ...app.runIndex, watch: (listener: RunListener) => (tell = listener) };
  const changes = new DaemonChanges({
    ...app,
    runIndex,
    daemon: app.changes.daemon,
    scheduleStamp: noSchedule,
    report: fail,
  });
  const server = await apiServer(allRoutes({ ...app, changes, loopLag }));
  const ask = async (after: string) =>
    eventsOf((await server.ask('GET', `/api/v2/events?follow=false&after=${after}`)).body);
  const [first] = eventsOf((await server.ask('GET', '/api/v2/events?follow=false')).body);

  for (const unknown of ['nonsense', '0123456789ab.1', `${changes.epoch}`]) {
    expect((await ask(unknown))[0]).toMatchObject({ event: 'reset', data: { why: 'unknown' } });
  }
  for (let i = 0; i < 10_000; i += 1) tell(`r${i}`, null);
  expect((await ask(first?.id ?? '')).map(({ event }) => event)).toEqual([
    'daemon',
    ...Array(10_000).fill('run.removed'),
  ]);
  tell('one more', null);
  const [reset, daemon, ...rest] = await ask(first?.id ?? '');
  expect([reset, daemon?.event, rest]).toEqual([
    { id: `${changes.epoch}.${changes.position()}`, event: 'reset', data: { why: 'too-old' } },
    'daemon',
    [],
  ]);
  expect(world.logged).toEqual([]);
});

test('a client that does not read is not written to, and then gets the latest states', async () => {
  const { app, ...world } = await apiWorld({ 'a.yaml': `description: ${'x'.repeat(900_000)}\n${quick}` });
  const file = join(world.dags, 'a.yaml');
  let tell: RunListener = () => {};
  const runIndex = { ...app.runIndex, watch: (listener: RunListener) => (tell = listener) };
  const clock = createFakeClock();
  const changes = new DaemonChanges({
    ...app,
    runIndex,
    clock,
    daemon: app.changes.daemon,
    scheduleStamp: noSchedule,
    report: fail,
  });
  const server = await apiServer(allRoutes({ ...app, changes, clock, loopLag }));
  const stream = await openStream(server, '/api/v2/events');
  await stream.until('event: daemon');
  stream.message.pause();

  for (let i = 0; i < 60; i += 1) {
    tell(`r${i}`, file);
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.message.resume();
  for (let i = 0; i < 60; i += 1) await expect.poll(() => stream.text()).toContain(`{"runId":"r${i}"}`);
  const told = eventsIn(stream).map(({ event }) => event);
  expect(told.filter((event) => event === 'run.removed').length).toBe(60);
  expect(told.filter((event) => event === 'workflow').length).toBeLessThan(40);
  stream.leave();
});

test('the state of the daemon is repeated every 15 seconds, with the cursor of the last event', async () => {
  const { app } = await apiWorld({ 'a.yaml': quick });
  const clock = createFakeClock();
  const server = await apiServer(allRoutes({ ...app, clock, loopLag }));
  const stream = await openStream(server, '/api/v2/events');
  await stream.until('event: daemon');
  clock.advance(14_999);
  expect(eventsIn(stream).length).toBe(1);
  clock.advance(1);
  await expect.poll(() => eventsIn(stream).length).toBe(2);

  const [first, second] = eventsIn(stream);
  expect(second).toEqual({ ...first, id: null });
  expectDescribed(stream);
  stream.leave();
  await expect.poll(() => clock.pending()).toBe(0);
});

test('without clients there is no polling and no timer', async () => {
  const { app, ...world } = await apiWorld({ 'a.yaml': quick });
  const clock = createFakeClock();
  let looks = 0;
  const refresh = () => {
    looks += 1;
    return app.runIndex.refresh();
  };
  const changes = new DaemonChanges({
    ...app,
    runIndex: { ...app.runIndex, refresh },
    clock,
    daemon: app.changes.daemon,
    scheduleStamp: noSchedule,
    report: fail,
  });
  const server = await apiServer(allRoutes({ ...app, clock, changes, loopLag }));
  expect([looks, clock.pending()]).toEqual([0, 0]);

  const streams = [await openStream(server, '/api/v2/events'), await openStream(server, '/api/v2/events')];
  await Promise.all(streams.map((stream) => stream.until('event: daemon')));
  const begun = looks;
  clock.advance(250);
  await expect.poll(() => looks).toBe(begun + 1);
  for (const stream of streams) stream.leave();
  await expect.poll(() => clock.pending()).toBe(0);
  expect(looks).toBe(begun + 1);
  expect(world.logged).toEqual([]);
});

test('streams end when the server closes', async () => {
  const { app } = await apiWorld({ 'a.yaml': quick });
  const server = await apiServer(allRoutes({ ...app, loopLag }));
  const stream = await openStream(server, '/api/v2/events');
  await stream.until('event: daemon');

  await server.close();
  await stream.ended;
});

test('a read-only login gets no text of a broken file', async () => {
  const login = { token: 'the-token', readOnlyToken: 'look-only', basic: null };
  const world = await apiWorld({}, { login });
  const open = (token: string) => openStream(world, '/api/v2/events', { Authorization: `Bearer ${token}` });
  const [full, reading] = [await open('the-token'), await open('look-only')];
  await Promise.all([full, reading].map((stream) => stream.until('event: daemon')));
  writeFileSync(join(world.dags, 'a.yaml'), 'steps: [{name: a, hunter2: x}]\n');
  await world.app.catalog.refresh();

  await Promise.all([full, reading].map((stream) => stream.until('"id":"a.yaml"')));
  expect([full.text().includes('hunter2'), reading.text().includes('hunter2')]).toEqual([true, false]);
  for (const stream of [full, reading]) stream.leave();
});

async function gatedRun(world: ApiWorld, query = ''): Promise<{ readonly stream: Stream }> {
  const body = { runId: 'r', params: { DIR: world.directory } };
  expect((await world.ask('POST', '/api/v2/workflows/gated/runs', { body })).status).toBe(201);
  const stream = await openStream(world, `/api/v2/events?run=r${query}`);
  await stream.until('event: daemon');
  return { stream };
}

async function start({ ask, runs }: ApiWorld, name: string, runId: string): Promise<void> {
  expect((await ask('POST', `/api/v2/workflows/${name}/runs`, { body: { runId } })).status).toBe(201);
  if (name === 'a') await runs.settled().catch(fail);
}

function go({ directory }: ApiWorld): void {
  writeFileSync(join(directory, 'go'), '');
}

function expectDescribed({ status, headers, text }: Stream): void {
  const whole = text().slice(0, text().lastIndexOf('\n\n'));
  expect(answerCheck()('GET', '/api/v2/events', { status, headers, body: whole })).toEqual([]);
}

function eventsIn(stream: Stream): readonly Told[] {
  return eventsOf(stream.text());
}

function eventsOf(text: string): readonly Told[] {
  const frames = text.split('\n\n').slice(0, -1);
  return frames.flatMap((frame) => {
    const [, event] = /^event: (.*)$/m.exec(frame) ?? [];
    const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
    const [, id = null] = /^id: (.*)$/m.exec(frame) ?? [];
    return event === undefined || data === undefined ? [] : [{ id, event, data: JSON.parse(data) }];
  });
}

function lastId(stream: Stream): string {
  return [...stream.text().matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
}

function fail(error: unknown): never {
  throw error;
}
