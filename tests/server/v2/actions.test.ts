import { expect, test } from 'vitest';
import { allRoutes } from '#server/routes.ts';
import type { RunActions } from '#service/service.ts';
import { WfError } from '#system/errors.ts';
import { apiServer, jsonOf } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';
import { apiDocument, described } from '../../support/described-answers.ts';

const files = {
  'sleeper.yaml': 'steps:\n  - {name: one, command: echo hi}\n  - {name: sleep, command: sleep 60, depends: one}\n',
  'secret.yaml': `params: A=
env: [{TOKEN: hunter22}]
secrets: [TOKEN]
steps:
  - {name: tell, command: "sh -c 'echo it is $TOKEN'"}
  - {name: ask, executor: {type: http, config: {headers: {X: hunter22}}}, command: GET http://127.0.0.1:1}
`,
  'stubborn.yaml':
    'handlerOn: {exit: {command: touch handled}}\nsteps: [{name: one, script: "trap : TERM; echo up; while :; do sleep 1; done"}]\n',
  'broken.yaml': 'env: [{TOKEN: hunter22}]\nsteps: [{name: a, comand: x}]\n',
};

test('a run can be stopped once, and then retried', async () => {
  const world = await apiWorld(files);
  await world.ask('POST', '/api/v2/workflows/sleeper/runs', { body: { runId: 'r' } });
  const retry = () => world.ask('POST', '/api/v2/runs/r/retry', { body: { runId: 'again' } });
  expect(await codeOf(retry())).toEqual([409, 'run-active']);
  await expect
    .poll(async () => (await world.ask('GET', '/api/v2/runs/r')).body)
    .toContain('"name":"sleep","status":"running"');

  const stopped = await world.ask('POST', '/api/v2/runs/r/stop');
  expect([stopped.status, jsonOf(stopped)['runId']]).toEqual([202, 'r']);
  await world.runs.settled();
  expect(jsonOf(await world.ask('GET', '/api/v2/runs/r'))).toMatchObject({ status: 'canceled', reason: 'stop' });
  expect(await codeOf(world.ask('POST', '/api/v2/runs/r/stop'))).toEqual([409, 'conflict']);
  const again = await retry();
  expect([again.status, jsonOf(again)['retryOf']]).toEqual([201, 'r']);
  expect(await codeOf(world.ask('POST', '/api/v2/runs/again/steps/one/mark', { body: { status: 'failed' } }))).toEqual([
    409,
    'run-active',
  ]);
  await world.ask('POST', '/api/v2/runs/again/stop');
});

test('a run whose steps ignore the stop is killed by force, without its handlers', async () => {
  const world = await apiWorld(files);
  await world.ask('POST', '/api/v2/workflows/stubborn/runs', { body: { runId: 'r' } });
  const log = '/api/v2/runs/r/steps/one/logs?attempt=1&stream=stdout';
  await expect.poll(async () => (await world.ask('GET', log)).body).toContain('up');
  const stop = (body?: object) => world.ask('POST', '/api/v2/runs/r/stop', body && { body });
  expect([(await stop()).status, (await stop({ force: false })).status]).toEqual([202, 202]);
  await expect.poll(async () => (await world.ask('GET', '/api/v2/runs/r')).body).toContain('"status":"canceling"');
  expect((await stop({ force: 'now' })).status).toBe(400);

  expect((await stop({ force: true })).status).toBe(202);
  await world.runs.settled();
  const run = jsonOf(await world.ask('GET', '/api/v2/runs/r'));
  expect(run).toMatchObject({ status: 'canceled', steps: [{ signal: 'SIGKILL' }], handlers: [] });
});

test('a repeated start returns its run regardless of its parameters, but never a retry', async () => {
  const world = await apiWorld(files);
  const start = (runId: string, params: string) =>
    world.ask('POST', '/api/v2/workflows/secret/runs', { body: { runId, params } });
  await start('r', 'A=1');
  await world.runs.settled();
  await world.ask('POST', '/api/v2/runs/r/retry', { body: { runId: 'again', useFile: true } });
  await world.runs.settled();

  const repeated = await start('r', 'A=2');
  expect([repeated.status, jsonOf(repeated)['params']]).toEqual([200, [{ name: 'A', value: '1' }]]);
  expect(await codeOf(start('again', 'A=1'))).toEqual([409, 'run-exists']);
  const { responses } = apiDocument().paths['/api/v2/workflows/{name}/runs']?.['post'] ?? {};
  expect(responses?.['200']?.description).toBe(
    'A run with that id exists: a start of the same workflow. Its parameters are not compared.',
  );
});

test('only steps can be marked, as the description says', async () => {
  const handled = 'steps: [{name: one, command: "true"}]\nhandlerOn: {exit: {command: "true"}}\n';
  const world = await apiWorld({ 'handled.yaml': handled });
  await world.ask('POST', '/api/v2/workflows/handled/runs', { body: { runId: 'r' } });
  await world.runs.settled();
  const path = '/api/v2/runs/r/steps/handlerOn.exit';

  expect((await world.ask('GET', `${path}/logs`)).status).toBe(200);
  const marked = await world.ask('POST', `${path}/mark`, { body: { status: 'failed' } });
  expect([marked.status, jsonOf(marked)['detail']]).toEqual([404, 'the workflow has no step "handlerOn.exit"']);
  const { parameters } = apiDocument().paths['/api/v2/runs/{id}/steps/{step}/mark']?.['post'] ?? {};
  expect(parameters?.find(({ name }) => name === 'step')?.description).toBe(
    'The name of a step. Handlers cannot be marked.',
  );
});

test('results of run actions are mapped to HTTP statuses', async () => {
  const world = await apiWorld(files);
  await world.ask('POST', '/api/v2/workflows/secret/runs', { body: { runId: 'r' } });
  await world.runs.settled();
  const busy = () => Promise.reject(new WfError('busy', 'too many runs wait'));
  const stop = async () => ({ result: 'canceled', forced: false }) as const;
  const ask = await askWith(world, { start: busy, retry: busy, stop });

  for (const path of ['workflows/sleeper/runs', 'runs/r/retry']) {
    const { status, headers, body } = await ask('POST', `/api/v2/${path}`);
    expect([status, headers['retry-after'], JSON.parse(body).code]).toEqual([429, '5', 'busy']);
  }
  expect((await ask('POST', '/api/v2/runs/r/stop')).status).toBe(200);
  const broken = await askWith(world, { start: () => Promise.reject(new WfError('storage', 'no room')) });
  expect(await codeOf(broken('POST', '/api/v2/workflows/sleeper/runs'))).toEqual([500, 'storage']);
});

test('a read-only login sees no secret and changes nothing', async () => {
  const login = { token: 'all', readOnlyToken: 'look', basic: null };
  const world = await apiWorld(files, { login });
  const as = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
  await world.ask('POST', '/api/v2/workflows/secret/runs', { ...as('all'), body: { runId: 'r' } });
  await world.runs.settled();

  const all = jsonOf(await world.ask('GET', '/api/v2/workflows/secret', as('all')));
  expect(all['definition']).toContain('hunter22');
  const paths = [
    'workflows',
    'workflows/secret',
    'workflows/broken',
    'runs',
    'runs/r',
    'runs/r/events',
    'runs/r/logs',
    'runs/r/steps/tell/logs',
  ];
  for (const path of paths) {
    const { status, body } = await world.ask('GET', `/api/v2/${path}`, as('look'));
    expect([path, status, body.includes('hunter22')]).toEqual([path, 200, false]);
  }
  expect((await world.ask('GET', '/api/v2/runs/r/logs', as('all'))).body).toContain('[tell] it is ***');
  expect(jsonOf(await world.ask('GET', '/api/v2/workflows/secret', as('look')))['definition']).toContain('***');
  for (const path of ['workflows/secret/runs', 'runs/r/stop', 'runs/r/retry', 'runs/r/steps/tell/mark', 'validate']) {
    expect(await codeOf(world.ask('POST', `/api/v2/${path}`, as('look')))).toEqual([403, 'forbidden']);
  }
});

async function askWith({ app }: ApiWorld, runs: Partial<RunActions>) {
  const routes = allRoutes({ ...app, runs: { ...app.runs, ...runs }, loopLag: () => ({ mean: 0, p99: 0, max: 0 }) });
  return described((await apiServer(routes)).ask);
}

async function codeOf(
  asked: Promise<{ readonly status: number; readonly body: string }>,
): Promise<readonly [number, string]> {
  const { status, body } = await asked;
  return [status, JSON.parse(body).code];
}
