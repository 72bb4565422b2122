import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { jsonOf } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';

const files = {
  'gate.yaml':
    'steps:\n  - {name: go, approval: {input: WHY, required: WHY}}\n  - {name: ship, depends: go, command: echo $WHY}\n',
  'named.yaml': 'steps:\n  - {name: go, approval: {by: ops}}\n',
};

async function waiting(world: ApiWorld, workflow: string, runId: string) {
  await world.ask('POST', `/api/v2/workflows/${workflow}/runs`, { body: { runId } });
  await expect.poll(async () => jsonOf(await world.ask('GET', `/api/v2/runs/${runId}`))['waitingFor']).toEqual(['go']);
}

test('a step is approved once, with its inputs', async () => {
  const world = await apiWorld(files);
  await waiting(world, 'gate', 'r');
  const answer = (word: string, body: object, step = 'go') =>
    world.ask('POST', `/api/v2/runs/r/steps/${step}/${word}`, { body });
  const missing = await answer('approve', {});
  expect([missing.status, jsonOf(missing)['code']]).toEqual([400, 'invalid-params']);
  expect((await answer('approve', {}, 'none')).status).toBe(404);
  expect((await answer('approve', { inputs: { WHY: 'x' } }, 'ship')).status).toBe(409);

  const approved = await answer('approve', { inputs: { WHY: 'it is time' }, comment: 'fine' });
  expect([approved.status, jsonOf<{ steps: object[] }>(approved).steps[0]]).toMatchObject([
    200,
    { status: 'succeeded', approval: { answer: 'approved', by: userInfo().username, comment: 'fine' } },
  ]);
  expect((await answer('reject', {})).status).toBe(409);
  await world.runs.settled();
  expect(jsonOf(await world.ask('GET', '/api/v2/runs/r'))).toMatchObject({ status: 'succeeded' });
});

test('the list of runs can be filtered by waiting approvals', async () => {
  const world = await apiWorld(files);
  await waiting(world, 'gate', 'r');
  await waiting(world, 'named', 'n');
  const list = async (query: string) =>
    jsonOf<{ runs: readonly { runId: string }[] }>(await world.ask('GET', `/api/v2/runs?${query}`)).runs;
  expect((await list('waiting=true')).map(({ runId }) => runId).sort()).toEqual(['n', 'r']);
  await world.ask('POST', '/api/v2/runs/r/steps/go/reject', { body: {} });
  await world.ask('POST', '/api/v2/runs/n/stop');
  await world.runs.settled();
  expect([await list('waiting=true'), (await list('waiting=false')).length]).toEqual([[], 2]);
});

test('only users that the approval names can answer', async () => {
  const world = await apiWorld(files);
  await waiting(world, 'named', 'r');
  const denied = await world.ask('POST', '/api/v2/runs/r/steps/go/reject', { body: { reason: 'no' } });
  expect([denied.status, jsonOf(denied)['code']]).toEqual([403, 'forbidden']);
  await world.ask('POST', '/api/v2/runs/r/stop');
  await world.runs.settled();
});

test('the v1 API answers the only waiting step', async () => {
  const world = await apiWorld(files);
  await waiting(world, 'gate', 'r');
  const { DAG } = jsonOf<{ DAG: { Status: { Nodes: readonly object[] } } }>(
    await world.ask('GET', '/api/v1/dags/gate'),
  );
  expect(DAG.Status.Nodes).toMatchObject([
    { Status: 1, StatusText: 'waiting for approval' },
    { Status: 0, StatusText: 'not started' },
  ]);
  const act = (fields: object) => world.ask('POST', '/api/v1/dags/gate', { body: { 'request-id': 'r', ...fields } });
  expect((await act({ action: 'approve' })).status).toBe(400);
  const unnamed = await act({ action: 'approve', params: 'WHY=now "or later"' });
  expect([unnamed.status, JSON.parse(unnamed.body).message]).toEqual([
    400,
    'the inputs in "params" need names: "or later" has none',
  ]);
  expect((await act({ action: 'approve', params: 'WHY=now', step: 'go' })).status).toBe(200);
  await world.runs.settled();
  expect((await act({ action: 'reject' })).status).toBe(409);
});
