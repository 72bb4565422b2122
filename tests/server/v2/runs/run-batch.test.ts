import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonOf } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';

const files = {
  'good.yaml': 'steps: [{name: a, command: "true"}]\n',
  'bad.yaml': 'steps: [{name: a, command: "false"}]\n',
  'slow.yaml': 'steps: [{name: a, command: sleep 60}]\n',
};

type Results = {
  readonly results: readonly { readonly id: string; readonly done: boolean; readonly code: string | null }[];
};

test('runs are removed with their logs, except running ones', async () => {
  const world = await apiWorld(files);
  await start(world, 'good', 'r');
  await world.runs.settled();
  await start(world, 'slow', 's');

  expect((await world.ask('DELETE', '/api/v2/runs/r')).status).toBe(204);
  expect((await world.ask('DELETE', '/api/v2/runs/r')).status).toBe(404);
  const refused = await world.ask('DELETE', '/api/v2/runs/s');
  expect([refused.status, JSON.parse(refused.body).code]).toEqual([409, 'run-active']);
  expect(readdirSync(join(world.directory, 'home/runs')).filter((name) => !name.startsWith('.'))).toEqual(['s']);
  await world.runs.stop('s', { by: 'the test', kill: 'never' });
});

test('a repeated removal does not remove a run whose id begins with the same text', async () => {
  const world = await apiWorld(files);
  for (const id of ['nightly-1', 'nightly-10', 'nightly-11']) await start(world, 'good', id);
  await world.runs.settled();
  const remove = async (id: string) => (await world.ask('DELETE', `/api/v2/runs/${id}`)).status;
  const batch = (ids: readonly string[]) =>
    world.ask('POST', '/api/v2/runs/batch', { body: { action: 'delete', ids } });

  expect([await remove('nightly-1'), await remove('nightly-1')]).toEqual([204, 404]);
  expect(jsonOf<Results>(await batch(['nightly-11', 'nightly-11', 'nightly-1', '@latest'])).results).toMatchObject([
    { done: true },
    { done: false, code: 'not-found', message: 'there is no run "nightly-11"' },
    { done: false, code: 'not-found', message: 'there is no run "nightly-1"' },
    { done: false, code: 'not-found', message: 'there is no run "@latest"' },
  ]);
  expect(await idsIn(world)).toEqual(['nightly-10']);
});

test('the name of a workflow names no run, although the ids of its runs begin with it', async () => {
  const world = await apiWorld(files);
  for (const id of ['good-1', 'good-2']) await start(world, 'good', id);
  await world.runs.settled();
  const find = async (id: string) => (await world.ask('GET', `/api/v2/runs/${id}`)).status;

  expect(JSON.parse((await world.ask('GET', '/api/v2/runs/good')).body)).toMatchObject({
    detail: 'there is no run "good"',
    help: 'GET /api/v2/runs?workflow= finds runs by name',
  });
  expect([await find('goo'), await find('good-'), await find('good-2')]).toEqual([400, 400, 200]);
});

test('several runs are retried, stopped and removed, each with its own result', async () => {
  const world = await apiWorld(files);
  await start(world, 'good', 'good-1');
  await start(world, 'bad', 'bad-1');
  await world.runs.settled();
  await start(world, 'slow', 'slow-1');
  const act = async (action: string, ids: readonly string[]) => {
    const { results } = jsonOf<Results>(await world.ask('POST', '/api/v2/runs/batch', { body: { action, ids } }));
    return results.map(({ id, done, code }) => [id, done, code]);
  };

  expect(await act('retry', ['bad-1', 'good-1', 'none'])).toEqual([
    ['bad-1', true, null],
    ['good-1', false, 'conflict'],
    ['none', false, 'not-found'],
  ]);
  expect(await act('delete', ['slow-1', 'bad-1'])).toEqual([
    ['slow-1', false, 'run-active'],
    ['bad-1', true, null],
  ]);
  expect(await act('stop', ['slow-1', 'good-1'])).toEqual([
    ['slow-1', true, null],
    ['good-1', false, 'conflict'],
  ]);
  await world.runs.settled();
  const { runs } = jsonOf<{ runs: readonly { retryOf: string | null; status: string }[] }>(
    await world.ask('GET', '/api/v2/runs'),
  );
  expect(runs.map(({ retryOf, status }) => [retryOf, status]).sort()).toEqual([
    [null, 'canceled'],
    [null, 'succeeded'],
    ['bad-1', 'failed'],
  ]);
});

test.each([{}, { ids: [] }, { ids: 'r' }, { ids: [1] }, { ids: Array(501).fill('r') }])(
  'the request %j is rejected',
  async (fields) => {
    const { ask } = await apiWorld({});
    expect((await ask('POST', '/api/v2/runs/batch', { body: { action: 'stop', ...fields } })).status).toBe(400);
  },
);

async function idsIn({ ask }: ApiWorld): Promise<readonly string[]> {
  const { runs } = jsonOf<{ runs: readonly { runId: string }[] }>(await ask('GET', '/api/v2/runs'));
  return runs.map(({ runId }) => runId);
}

async function start({ ask }: ApiWorld, name: string, runId: string): Promise<void> {
  expect((await ask('POST', `/api/v2/workflows/${name}/runs`, { body: { runId } })).status).toBe(201);
}
