import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ApiServer, jsonOf } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';

const sleeper = `params: NAME=nobody
steps:
  - name: hello
    command: echo "hello $NAME"
  - name: sleep
    command: sleep 60
    depends: hello
`;

type Listed = { readonly DAGs: readonly { readonly File: string; readonly Status: Status }[] };
type Status = {
  readonly RequestId: string;
  readonly Status: number;
  readonly StatusText: string;
  readonly Params: string;
};
type Detail = { readonly DAG: { readonly Status: Status }; readonly StepLog: { readonly Content: string } };

test('a browser extension lists, starts, watches, stops, retries, creates, saves and deletes', async () => {
  const world = await apiWorld(
    { 'sleeper.yaml': sleeper },
    { login: { token: 't', readOnlyToken: null, basic: null } },
  );
  const { ask } = extension(world);
  const post = (path: string, body: object) => ask('POST', path, body);

  const list = jsonOf<Listed>(await ask('GET', '/dags?page=1&limit=50&searchName=&searchTag='));
  expect(list.DAGs.map(({ File, Status: { StatusText } }) => [File, StatusText])).toEqual([
    ['sleeper.yaml', 'not started'],
  ]);

  const { RequestId } = jsonOf(await post('/dags/sleeper', { action: 'start', params: 'NAME="Ann & Bob"' }));
  await expect.poll(() => status(ask, '/dags/sleeper')).toMatchObject({ RequestId, Status: 1, StatusText: 'running' });
  const log = () =>
    ask('GET', '/dags/sleeper?tab=log&step=hello').then((answer) => jsonOf<Detail>(answer).StepLog.Content);
  await expect.poll(log).toBe('hello Ann & Bob\n');

  expect((await post('/dags/sleeper', { action: 'stop', requestId: RequestId })).body).toBe('{}\n');
  await world.runs.settled();
  expect(await status(ask, '/dags/sleeper')).toMatchObject({ RequestId, Status: 3, Params: 'NAME="Ann & Bob"' });

  const retried = jsonOf(await post('/dags/sleeper', { action: 'retry', requestId: RequestId }));
  await expect.poll(() => status(ask, '/dags/sleeper')).toMatchObject({ RequestId: retried['RequestId'], Status: 1 });
  await post('/dags/sleeper', { action: 'stop' });
  await world.runs.settled();

  expect(jsonOf(await post('/dags', { action: 'new', value: 'fresh' }))).toEqual({ DagID: 'fresh.yaml' });
  const value = 'description: saved\nsteps:\n  - name: one\n    command: echo one\n';
  expect((await post('/dags/fresh', { action: 'save', value })).status).toBe(200);
  expect(jsonOf(await ask('GET', '/dags/fresh/spec'))['Definition']).toBe(value);
  await post('/dags/fresh', { action: 'suspend', value: 'true' });
  expect(jsonOf(await post('/dags/fresh', { action: 'rename', value: 'stale' }))).toEqual({ NewDagID: 'stale.yaml' });
  expect(jsonOf(await ask('GET', '/dags/stale'))).toMatchObject({
    DAG: { Suspended: true, DAG: { Description: 'saved' } },
  });
  expect((await ask('DELETE', '/dags/stale')).status).toBe(200);
  expect((await ask('GET', '/dags/stale')).status).toBe(404);
  expect(readdirSync(world.dags)).toEqual(['sleeper.yaml']);
});

test('a page of another site with the same credentials is rejected', async () => {
  const world = await apiWorld({ 'sleeper.yaml': sleeper });
  const form = { body: new URLSearchParams({ action: 'start' }) };
  const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', Origin: 'https://evil.com' };

  expect((await world.ask('POST', '/api/v1/dags/sleeper', { ...form, headers })).status).toBe(403);
  expect((await world.ask('POST', '/api/v1/dags/sleeper', { ...form, headers: { Origin: 'null' } })).status).toBe(403);
  expect(await status((method, path) => world.ask(method, `/api/v1${path}`), '/dags/sleeper')).toMatchObject({
    Status: 0,
  });
});

test('repeated starts with the same id start one run', async () => {
  const { ask, app, runs } = await apiWorld({ 'quick.yaml': 'steps: [{name: a, command: "true"}]\n' });
  const start = { body: { action: 'start', requestId: 'once' } };

  const answers = await Promise.all([1, 2, 3].map(() => ask('POST', '/api/v1/dags/quick', start)));
  await runs.settled();
  answers.push(await ask('POST', '/api/v1/dags/quick', start));

  expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(4).fill([200, '{"RequestId":"once"}\n']));
  app.runIndex.touch();
  await app.runIndex.refresh();
  expect(app.runIndex.runIdsOf(join(app.catalog.list()[0]?.file ?? ''))).toEqual(['once']);
});

test("a start with the id of another workflow's run, or of a retry, is rejected", async () => {
  const quick = 'steps: [{name: a, command: "false"}]\n';
  const { ask, runs } = await apiWorld({ 'a.yaml': quick, 'b.yaml': quick });
  const start = (name: string, requestId: string) =>
    ask('POST', `/api/v1/dags/${name}`, { body: { action: 'start', requestId } });
  await start('a', 'first');
  await runs.settled();
  await ask('POST', '/api/v2/runs/first/retry', { body: { runId: 'again' } });
  await runs.settled();

  for (const [name, id] of [
    ['b', 'first'],
    ['a', 'again'],
  ] as const) {
    const { status: code, body } = await start(name, id);
    const message = `there is another run "${id}"`;
    expect([code, JSON.parse(body)]).toEqual([409, { message, detailedMessage: 'choose another id' }]);
  }
  expect((await start('a', 'first')).status).toBe(200);
  expect(jsonOf<Listed>(await ask('GET', '/api/v1/dags?searchName=b')).DAGs[0]?.Status.RequestId).toBe('');
});

test('a renamed workflow has an empty history; its running run continues and is stopped by its id', async () => {
  const world = await apiWorld({ 'old.yaml': sleeper });
  const post = (path: string, body: object) => world.ask('POST', `/api/${path}`, { body });
  await post('v1/dags/old', { action: 'start', requestId: 'r' });
  await post('v1/dags/old', { action: 'rename', value: 'new' });

  expect(jsonOf(await world.ask('GET', '/api/v2/workflows/new/runs'))['runs']).toEqual([]);
  expect((await post('v1/dags/new', { action: 'stop' })).status).toBe(400);
  expect((await post('v1/dags/new', { action: 'stop', requestId: 'r' })).status).toBe(404);
  expect((await post('v2/runs/r/stop', {})).status).toBe(202);
  await world.runs.settled();
  expect(jsonOf(await world.ask('GET', '/api/v2/runs/r'))).toMatchObject({ workflow: 'old', status: 'canceled' });
});

test('stop ends every active run of a workflow and none of another', async () => {
  const world = await apiWorld({ 'a.yaml': sleeper, 'b.yaml': sleeper });
  const post = (name: string, body: object) => world.ask('POST', `/api/v1/dags/${name}`, { body });
  for (const requestId of ['a-1', 'a-2']) await post('a', { action: 'start', requestId });
  await post('b', { action: 'start', requestId: 'b-1' });

  await post('a', { action: 'stop' });

  const runs = async () => {
    world.app.runIndex.touch();
    await world.app.runIndex.refresh();
    return world.app.runIndex.active().map(({ runId }) => runId);
  };
  await expect.poll(runs).toEqual(['b-1']);
  expect((await post('a', { action: 'stop' })).status).toBe(400);
  expect((await post('b', { action: 'stop', requestId: 'a-1' })).status).toBe(404);
  await post('b', { action: 'stop', requestId: 'b-1' });
});

test('the text of a workflow has the type that the client prefers', async () => {
  const { ask } = await apiWorld({ 'a.yaml': sleeper });
  const typeFor = async (Accept: string) =>
    (await ask('GET', '/api/v1/dags/a/spec', { headers: { Accept } })).headers['content-type']?.split(';')[0];

  expect(await typeFor('application/json, text/yaml;q=0.5')).toBe('application/json');
  expect(await typeFor('application/json;q=0.5, application/yaml')).toBe('text/yaml');
});

test('a save keeps the mode of the file and leaves no other files', async () => {
  const world = await apiWorld({ 'a.yaml': sleeper });
  const { mode } = statSync(join(world.dags, 'a.yaml'));
  const value = '# ünchanged\nsteps: [{name: a, command: "true"}]\n';

  await world.ask('POST', '/api/v1/dags/a', { body: new URLSearchParams({ action: 'save', value }) });

  expect(readFileSync(join(world.dags, 'a.yaml'), 'utf8')).toBe(value);
  expect(statSync(join(world.dags, 'a.yaml')).mode).toBe(mode);
  expect(readdirSync(world.dags)).toEqual(['a.yaml']);
});

test('a save with an error is rejected and keeps the old text', async () => {
  const world = await apiWorld({ 'a.yaml': sleeper });

  const { status: code } = await world.ask('POST', '/api/v1/dags/a', {
    body: { action: 'save', value: 'steps: []\n' },
  });

  expect([code, readFileSync(join(world.dags, 'a.yaml'), 'utf8')]).toEqual([422, sleeper]);
});

test('a read-only login cannot see or search for secrets in a file', async () => {
  const secret = 'env: [{TOKEN: hunter2-token}]\nsecrets: [TOKEN]\nsteps: [{name: a, command: "true"}]\n';
  const login = { token: 't', readOnlyToken: 'look', basic: null };
  const { ask } = await apiWorld({ 'a.yaml': secret, 'broken.yaml': `${secret}x: [` }, { login });
  const bodies = async (token: string) => {
    const paths = [
      '/dags',
      '/dags/a',
      '/dags/a?tab=spec',
      '/dags/a/spec',
      '/dags/broken?tab=spec',
      '/dags/broken/spec',
    ];
    const headers = { Authorization: `Bearer ${token}` };
    const answers = [...paths, '/search?q=hunter2', '/search?q=token'].map((path) =>
      ask('GET', `/api/v1${path}`, { headers }),
    );
    return (await Promise.all(answers)).map(({ body }) => body);
  };

  expect((await bodies('look')).filter((body) => body.includes('hunter2'))).toEqual([]);
  expect((await bodies('look')).at(-2)).toBe('{"Results":[],"Errors":[]}\n');
  expect((await bodies('t')).filter((body) => body.includes('hunter2'))).toHaveLength(6);
});

type Ask = (method: string, path: string, body?: object) => ReturnType<ApiServer['ask']>;

/** Requests as Chrome makes them for an extension that has a permission for the address. */
function extension(world: ApiWorld): { readonly ask: Ask } {
  const headers = {
    Authorization: 'Bearer t',
    Accept: 'application/json',
    Origin: 'chrome-extension://fghijklmnopabcdefghijklmnopabcde',
    'Sec-Fetch-Site': 'none',
    'Sec-Fetch-Mode': 'cors',
    'Sec-Fetch-Dest': 'empty',
  };
  return {
    ask: (method, path, body) =>
      world.ask(method, `/api/v1${path}`, { headers, ...(body === undefined ? {} : { body }) }),
  };
}

async function status(ask: Ask, path: string): Promise<Status> {
  return jsonOf<Detail>(await ask('GET', path)).DAG.Status;
}
