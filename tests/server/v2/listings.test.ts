import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allRoutes } from '#server/routes.ts';
import { apiServer, jsonOf } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { v1Files } from '../../support/v1-files.ts';

type WorkflowPage = { readonly workflows: readonly { readonly id: string; readonly suspended: boolean }[] } & Cursor;
type RunPage = { readonly runs: readonly { readonly runId: string }[] } & Cursor;
type Cursor = { readonly nextCursor: string | null };

const one = 'steps: [{name: one, command: "true"}]\n';

test('pages of workflows form the complete list, even if files are added and removed in between', async () => {
  const { ask, dags, app } = await apiWorld(v1Files);
  const page = async (query: string) => jsonOf<WorkflowPage>(await ask('GET', `/api/v2/workflows?${query}`));
  const ids = ({ workflows }: WorkflowPage) => workflows.map(({ id }) => id);

  const first = await page('limit=2');
  expect(ids(first)).toEqual(['a/same.yaml', 'b/same.yaml']);
  rmSync(join(dags, 'b/same.yaml'));
  writeFileSync(join(dags, 'a/before.yaml'), one);
  writeFileSync(join(dags, 'last.yaml'), one);
  await app.catalog.refresh();
  const second = await page(`limit=3&cursor=${first.nextCursor}`);
  const third = await page(`limit=3&cursor=${second.nextCursor}`);

  expect([ids(second), ids(third), third.nextCursor]).toEqual([
    ['broken.yaml', 'hello.yaml', 'last.yaml'],
    ['nightly.yaml'],
    null,
  ]);
});

test('a listing is cached until something changes', async () => {
  const { ask, app, dags } = await apiWorld(v1Files);
  const tagOf = async () => (await ask('GET', '/api/v2/workflows')).headers.etag ?? '';

  const before = await tagOf();
  expect(await tagOf()).toBe(before);
  expect((await ask('GET', '/api/v2/workflows', { headers: { 'If-None-Match': before } })).status).toBe(304);
  app.workflows.suspend(join(dags, 'hello.yaml'), Number.POSITIVE_INFINITY);
  const page = jsonOf<WorkflowPage>(await ask('GET', '/api/v2/workflows?name=hello'));
  expect(page.workflows.map(({ suspended }) => suspended)).toEqual([true]);
  expect(await tagOf()).not.toBe(before);
});

test('a workflow is listed with its directory once another file has its name', async () => {
  const { ask, app, dags } = await apiWorld({ 'a.yaml': one });
  const ids = async () => jsonOf<WorkflowPage>(await ask('GET', '/api/v2/workflows')).workflows.map(({ id }) => id);
  expect(await ids()).toEqual(['a.yaml']);

  mkdirSync(join(dags, 'ops'));
  writeFileSync(join(dags, 'ops/a.yaml'), one);
  await app.catalog.refresh();
  expect(await ids()).toEqual(['/a.yaml', 'ops/a.yaml']);
  rmSync(join(dags, 'ops'), { recursive: true });
  await app.catalog.refresh();
  expect(await ids()).toEqual(['a.yaml']);
});

test('a page has the last runs of its new workflows while another page is read', async () => {
  const world = await apiWorld({ 'x.yaml': one, 'q.yaml': one });
  let isReading = () => {};
  let mayRead = Promise.resolve();
  const recentIn = await recentLists(world, async (files) => {
    isReading();
    if (files.some((file) => file.endsWith('q.yaml'))) await mayRead;
  });
  await recentIn('name=x');
  for (const name of ['x2', 'q2']) writeFileSync(join(world.dags, `${name}.yaml`), one);
  await world.app.catalog.refresh();

  let release = () => {};
  mayRead = new Promise((resolve) => (release = resolve));
  const began = new Promise<void>((resolve) => (isReading = resolve));
  const other = recentIn('name=q');
  await began;
  const page = await recentIn('name=x');
  release();

  expect(page).toEqual({ 'x.yaml': [], 'x2.yaml': [] });
  expect(await other).toEqual({ 'q.yaml': [], 'q2.yaml': [] });
});

test('a page has the last runs of a workflow that is added while the others are read', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const recentIn = await recentLists(world, async () => {
    writeFileSync(join(world.dags, 'b.yaml'), one);
    await world.app.catalog.refresh();
  });

  expect(await recentIn('')).toEqual({ 'a.yaml': [], 'b.yaml': [] });
});

test('the listing returns the next start of a schedule as time passes', async () => {
  const { app } = await apiWorld({ 'a.yaml': `schedule: "0 5 * * *"\n${one}` });
  const clock = createFakeClock();
  const moments = [clock.now() + 10_000, clock.now() + 20_000];
  const nextOf = () => new Date(moments.find((at) => at > clock.now()) ?? 0);
  const workflows = { ...app.workflows, nextOf };
  const { ask } = await apiServer(
    allRoutes({ ...app, clock, workflows, loopLag: () => ({ mean: 0, p99: 0, max: 0 }) }),
  );
  const next = async () => Date.parse(JSON.parse((await ask('GET', '/api/v2/workflows')).body).workflows[0].next);

  expect(await next()).toBe(moments[0]);
  clock.advance(9000);
  expect(await next()).toBe(moments[0]);
  clock.advance(1000);
  expect(await next()).toBe(moments[1]);
});

test('pages of runs put together are all runs, newest first, also while runs come and go', async () => {
  const world = await apiWorld({ 'a.yaml': one, 'b.yaml': one });
  for (const id of ['own-1', 'own-2', null, 'own-3', null]) await start(world, 'a', id);
  await start(world, 'b', 'other');
  const page = async (query: string) => jsonOf<RunPage>(await world.ask('GET', `/api/v2/runs?${query}`));
  const ids = ({ runs }: RunPage) => runs.map(({ runId }) => runId);
  const all = ids(await page(''));

  expect(all.length).toBe(6);
  const first = await page('limit=2');
  expect(ids(await page(`limit=2&cursor=${first.nextCursor}`))).toEqual(all.slice(2, 4));
  rmSync(join(world.directory, 'home/runs', all[1] ?? ''), { recursive: true });
  await start(world, 'a', 'new');
  const rest = await page(`limit=10&cursor=${first.nextCursor}`);
  expect([ids(first), ids(rest), rest.nextCursor]).toEqual([all.slice(0, 2), all.slice(2), null]);
  const ofA = jsonOf<RunPage>(await world.ask('GET', `/api/v2/workflows/a/runs?limit=2&cursor=${first.nextCursor}`));
  expect(ids(ofA)).toEqual(all.slice(2, 4));
});

test('runs are listed without their steps, except on request', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  await start(world, 'a', 'run-1');
  const keysOf = async (path: string) =>
    jsonOf<RunPage>(await world.ask('GET', path)).runs.map((run) => Object.keys(run).filter((key) => heavy.has(key)));
  const heavy = new Set(['steps', 'handlers', 'warnings']);

  for (const path of ['/api/v2/runs', '/api/v2/workflows/a/runs']) {
    expect([path, await keysOf(path), await keysOf(`${path}?steps=true`)]).toEqual([path, [[]], [[...heavy]]]);
  }
});

test('runs of a removed workflow are found by its name and by its file', async () => {
  const world = await apiWorld({ 'a.yaml': `name: first\n${one}`, 'b.yaml': one });
  await start(world, 'a', 'run-1');
  rmSync(join(world.dags, 'a.yaml'));
  mkdirSync(join(world.dags, 'c'));
  for (const name of ['first', 'a', join(world.dags, 'a.yaml')]) {
    const { runs } = jsonOf<RunPage>(await world.ask('GET', `/api/v2/runs?workflow=${encodeURIComponent(name)}`));
    expect([name, runs.map(({ runId }) => runId)]).toEqual([name, ['run-1']]);
  }
});

test('runs are found by the way they were started, by a text, a tag or queue, and by their duration', async () => {
  const world = await apiWorld({ 'a.yaml': `params: { DAY: "1" }\ntags: [Nightly, db]\nqueue: imports\n${one}` });
  await start(world, 'a', 'run-1');
  await start(world, 'a', 'run-2');
  const ids = async (query: string) =>
    jsonOf<RunPage>(await world.ask('GET', `/api/v2/runs?${query}`)).runs.map(({ runId }) => runId);

  expect(await ids('trigger=api,schedule')).toEqual(['run-2', 'run-1']);
  expect(await ids('trigger=schedule')).toEqual([]);
  expect(await ids('text=RUN-1')).toEqual(['run-1']);
  expect([await ids('tag=nightly&queue=imports'), await ids('queue=import')]).toEqual([['run-2', 'run-1'], []]);
  expect(await ids('text=day%3D1&partial=true')).toEqual(['run-2', 'run-1']);
  expect(await ids('text=day%3D2')).toEqual([]);
  expect([await ids('minDuration=0'), await ids('minDuration=3600')]).toEqual([['run-2', 'run-1'], []]);
  expect((await world.ask('GET', '/api/v2/runs?trigger=cron')).status).toBe(400);
});

/** Returns the last runs by workflow, as a listing has them; `before` is called before each read of last runs. */
async function recentLists({ app }: ApiWorld, before: (files: readonly string[]) => Promise<void>) {
  const read = (files: readonly string[]) => before(files).then(() => app.runIndex.recent.read(files));
  const runIndex = { ...app.runIndex, recent: { ...app.runIndex.recent, read } };
  const { ask } = await apiServer(allRoutes({ ...app, runIndex, loopLag: () => ({ mean: 0, p99: 0, max: 0 }) }));
  return async (query: string) => {
    const { workflows } = JSON.parse((await ask('GET', `/api/v2/workflows?${query}`)).body);
    return Object.fromEntries(workflows.map(({ id, recent }: Record<string, unknown>) => [id, recent]));
  };
}

async function start({ ask, runs }: ApiWorld, name: string, runId: string | null): Promise<void> {
  expect((await ask('POST', `/api/v2/workflows/${name}/runs`, { body: { runId } })).status).toBe(201);
  await runs.settled();
}
