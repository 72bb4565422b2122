import { expect, test } from 'vitest';
import { jsonOf } from '../../support/api-server.ts';
import { apiWorld } from '../../support/api-world.ts';

test('a ready service is reported in the status text, with the number of running steps', async () => {
  const world = await apiWorld({
    'a.yaml': `steps:
  - {name: db, service: {readyWhen: {line: up}, intervalSec: 0.02}, command: "sh -c 'echo up; exec sleep 60'"}
  - {name: test, depends: db, command: sleep 60}
`,
  });
  await world.ask('POST', '/api/v2/workflows/a/runs', { body: { runId: 'r' } });
  const nodes = async () => {
    const { DAG } = jsonOf<{ DAG: { Status: { Nodes: readonly object[] } } }>(await world.ask('GET', '/api/v1/dags/a'));
    return DAG.Status.Nodes;
  };
  await expect.poll(nodes).toMatchObject([
    { Status: 1, StatusText: 'ready' },
    { Status: 1, StatusText: 'running' },
  ]);
  await world.ask('POST', '/api/v2/runs/r/stop');
  await world.runs.settled();
  expect(await nodes()).toMatchObject([{ StatusText: 'finished' }, { StatusText: 'canceled' }]);
});
