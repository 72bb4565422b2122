import { join } from 'node:path';
import { test } from 'vitest';
import { type Asked, expectAnswers } from '../../support/api-golden.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';
import { v1Files } from '../../support/v1-files.ts';

test('listings', async () => {
  const world = await apiWorld(v1Files);
  await run(world, 'hello', { 'request-id': 'run-1' });

  await expectGolden('listings', world, [
    ['GET', '/api/v1/dags'],
    ['GET', '/api/v1/dags/?page=2&limit=2'],
    ['GET', '/api/v1/dags?group=ops'],
    ['GET', '/api/v1/dags?searchName=NIGHT&remoteNode=local'],
    ['GET', '/api/v1/dags?searchTag=greeting'],
    ['GET', '/api/v1/dags?searchName=nothing'],
    ['GET', '/api/v1/tags'],
    ['GET', '/api/v1/search?q=HELLO'],
  ]);
});

test('a workflow that has never run', async () => {
  const world = await apiWorld(v1Files);

  await expectGolden('never-run', world, [
    ['GET', '/api/v1/dags/hello'],
    ['GET', '/api/v1/dags/hello?tab=spec'],
    ['GET', '/api/v1/dags/hello?tab=history'],
    ['GET', '/api/v1/dags/hello?tab=log&step=greet'],
    ['GET', '/api/v1/dags/hello?tab=scheduler-log'],
    ['GET', '/api/v1/dags/ops%2Fnightly.yaml/'],
    ['GET', '/api/v1/dags/broken'],
    ['GET', '/api/v1/dags/hello/spec'],
    ['GET', '/api/v1/dags/broken/spec/'],
    ['GET', '/api/v1/dags/hello/spec', { headers: { Accept: 'text/yaml' } }],
  ]);
});

test('a workflow that has run', async () => {
  const world = await apiWorld(v1Files);
  await run(world, 'hello', { 'request-id': 'run-1', params: 'x NAME=fail' });
  await run(world, 'hello', { requestId: 'run-2' });

  await expectGolden('past-runs', world, [
    ['GET', '/api/v1/dags/hello'],
    ['GET', '/api/v1/dags/hello?tab=history'],
    ['GET', '/api/v1/dags/hello?tab=log&step=count+lines'],
    ['GET', '/api/v1/dags/hello?tab=log&step=onExit&file=run-1'],
    ['GET', '/api/v1/dags/hello?tab=scheduler-log&file=run-1'],
  ]);
});

test('rejected requests', async () => {
  const world = await apiWorld(v1Files);
  await run(world, 'hello', { 'request-id': 'run-1' });
  const post = (name: string, body: object): Asked => ['POST', `/api/v1/dags/${name}`, { body }];

  await expectGolden('refused', world, [
    ['GET', '/api/v1/dags/helo'],
    ['GET', '/api/v1/dags/same'],
    ['GET', '/api/v1/dags/hello?tab=other'],
    ['GET', '/api/v1/dags/hello?tab=log&step=nobody'],
    ['GET', '/api/v1/dags/hello?tab=log'],
    ['GET', '/api/v1/dags/hello?tab=log&step=greet&file=/etc/passwd'],
    ['GET', '/api/v1/dags?page=0'],
    ['GET', '/api/v1/dags?limit=x'],
    ['GET', '/api/v1/dags?remoteNode=other'],
    ['GET', '/api/v1/search'],
    ['GET', '/api/v1/nothing'],
    ['PUT', '/api/v1/dags/hello'],
    post('hello', {}),
    post('hello', { action: 'dance' }),
    post('hello', { action: '__proto__' }),
    post('hello', { action: ['start'] }),
    post('nobody', { action: 'start' }),
    post('broken', { action: 'start' }),
    post('hello', { action: 'start', params: 'PATH=/tmp' }),
    post('hello', { action: 'start', params: 'NAMEE=x SHELLOPTS=xtrace PS4=$(id) a b c' }),
    post('hello', { action: 'start', requestId: '../../x' }),
    post('hello', { action: 'stop' }),
    post('hello', { action: 'stop', requestId: 'run-1' }),
    post('hello', { action: 'stop', requestId: 'run-9' }),
    post('hello', { action: 'retry' }),
    post('hello', { action: 'retry', requestId: 'run-9' }),
    post('ops%2Fnightly', { action: 'retry', requestId: 'run-1' }),
    post('hello', { action: 'suspend', value: 'maybe' }),
    post('hello', { action: 'mark-success', requestId: 'run-1' }),
    post('hello', { action: 'mark-success', requestId: 'run-1', step: 'nobody' }),
    post('hello', { action: 'save' }),
    post('hello', { action: 'save', value: 'steps:\n  - name: x\n    comand: y\n' }),
    post('hello', { action: 'rename', value: '../evil' }),
    post('hello', { action: 'rename', value: 'nightly' }),
    ['POST', '/api/v1/dags', { body: { action: 'new', value: 'hello' } }],
    ['POST', '/api/v1/dags', { body: { action: 'new', value: 'a/b' } }],
    ['POST', '/api/v1/dags', { body: { action: 'new' } }],
    ['POST', '/api/v1/dags', { body: { value: 'x' } }],
    ['DELETE', '/api/v1/dags/nobody'],
    ['POST', '/api/v1/dags/hello', { body: '{', headers: { 'Content-Type': 'application/json' } }],
    ['POST', '/api/v1/dags/hello', { body: '[]', headers: { 'Content-Type': 'application/json' } }],
    ['POST', '/api/v1/dags/hello', { body: '<a/>', headers: { 'Content-Type': 'text/xml' } }],
  ]);
});

test('actions', async () => {
  const world = await apiWorld(v1Files);
  await run(world, 'hello', { 'request-id': 'run-1', params: 'x NAME=fail' });
  const post = (name: string, body: object): Asked => ['POST', `/api/v1/dags/${name}`, { body }];
  const form = (name: string, fields: Record<string, string>): Asked => [
    'POST',
    `/api/v1/dags/${name}`,
    { body: new URLSearchParams(fields) },
  ];

  await expectGolden('done', world, [
    form('hello.yaml', { action: 'start', 'request-id': 'run-2' }),
    form('hello', { action: 'start', 'request-id': 'run-2' }),
    ['POST', '/api/v1/dags/ops%2Fnightly?action=start'],
    form('hello', { action: 'retry', 'request-id': 'run-1' }),
    post('hello', { action: 'suspend', value: true }),
    post('hello', { action: 'mark-success', requestId: 'run-1', step: 'fail if asked' }),
    post('hello', { action: 'save', value: 'steps:\n  - name: x\n    command: y\n' }),
    ['GET', '/api/v1/dags/hello/spec'],
    post('hello', { action: 'rename', value: 'hallo' }),
    ['POST', '/api/v1/dags/', { body: { action: 'new', value: 'brand new' } }],
    ['GET', '/api/v1/dags/brand%20new/spec'],
    ['DELETE', '/api/v1/dags/brand%20new'],
    ['GET', '/api/v1/dags/brand%20new/spec'],
  ]);
});

async function run({ ask, runs }: ApiWorld, name: string, fields: Record<string, string>): Promise<void> {
  const { status, body } = await ask('POST', `/api/v1/dags/${name}`, {
    body: new URLSearchParams({ action: 'start', ...fields }),
  });
  if (status !== 200) throw new Error(body);
  await runs.settled();
}

function expectGolden(name: string, world: ApiWorld, asked: readonly Asked[]): Promise<void> {
  return expectAnswers(join(import.meta.dirname, 'goldens', `${name}.txt`), world, asked);
}
