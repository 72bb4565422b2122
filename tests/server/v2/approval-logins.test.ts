import { expect, test } from 'vitest';
import { jsonOf } from '../../support/api-server.ts';
import { apiWorld } from '../../support/api-world.ts';

const files = {
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
