import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { jsonOf } from '../../support/api-server.ts';
import { apiWorld } from '../../support/api-world.ts';

const files = {
  'wait.yaml': 'steps:\n  - {name: go, approval: true}\n',
  'gate.yaml': `steps:
  - {name: go, approval: true}
  - {name: own, approval: {by: anna}}
`,
};
const login = { token: 'all', readOnlyToken: 'look', basic: { username: 'anna', password: 'pw' } };
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const anna = { headers: { Authorization: `Basic ${Buffer.from('anna:pw').toString('base64')}` } };

test('an answer records the name of the login, and a read-only login cannot answer', async () => {
  const world = await apiWorld(files, { login });
  await world.ask('POST', '/api/v2/workflows/gate/runs', { ...anna, body: { runId: 'r' } });
  const shown = async () =>
    jsonOf<{ waitingFor?: unknown; steps: object[] }>(await world.ask('GET', '/api/v2/runs/r', anna));
  await expect.poll(async () => (await shown()).waitingFor).toEqual(['go', 'own']);
  const answer = async (path: string, as: object, body: object = {}) =>
    (await world.ask('POST', `/api/v2/runs/r/steps/${path}`, { ...as, body })).status;

  expect(await answer('go/approve', bearer('look'))).toBe(403);
  expect(await answer('go/reject', bearer('look'), { reason: 'no' })).toBe(403);
  expect(await answer('go/approve', {})).toBe(401);
  const v1 = { action: 'approve', 'request-id': 'r', step: 'go' };
  expect((await world.ask('POST', '/api/v1/dags/gate', { ...bearer('look'), body: v1 })).status).toBe(403);
  expect((await shown()).waitingFor).toEqual(['go', 'own']);

  expect(await answer('own/approve', bearer('all'))).toBe(403);
  expect(await answer('go/approve', bearer('all'))).toBe(200);
  expect(await answer('own/approve', anna)).toBe(200);
  await world.runs.settled();
  expect((await shown()).steps).toMatchObject([{ approval: { by: 'token' } }, { approval: { by: 'anna' } }]);
});

test.each([
  ['the name of the login', login, anna, 'anna'],
  ['"token" for a token', login, bearer('all'), 'token'],
  ['"the API" if no login is required', null, {}, 'the API'],
])('stops and marks record %s', async (_, required, as, by) => {
  const world = await apiWorld(files, required === null ? {} : { login: required });
  const v1 = (body: object) => world.ask('POST', '/api/v1/dags/wait', { ...as, body });
  const stops = {
    one: () => world.ask('POST', '/api/v2/runs/one/stop', { ...as, body: {} }),
    some: () => world.ask('POST', '/api/v2/runs/batch', { ...as, body: { action: 'stop', ids: ['some'] } }),
    old: () => v1({ action: 'stop', 'request-id': 'old' }),
  };
  for (const [runId, stop] of Object.entries(stops)) {
    await world.ask('POST', '/api/v2/workflows/wait/runs', { ...as, body: { runId } });
    expect([runId, (await stop()).status]).toEqual([runId, runId === 'one' ? 202 : 200]);
  }
  await world.runs.settled();
  const shown = (runId: string) => world.ask('GET', `/api/v2/runs/${runId}`, as).then(jsonOf<RunSummary>);
  for (const runId of Object.keys(stops))
    expect([runId, (await shown(runId)).error]).toEqual([runId, `stopped by ${by}`]);

  await world.ask('POST', '/api/v2/runs/one/steps/go/mark', { ...as, body: { status: 'failed' } });
  await v1({ action: 'mark-failed', 'request-id': 'old', step: 'go' });
  for (const runId of ['one', 'old']) {
    expect([runId, (await shown(runId)).steps[0]?.error]).toEqual([runId, `marked as failed by ${by}`]);
  }
});
