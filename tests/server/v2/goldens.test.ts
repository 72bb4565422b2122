import { join } from 'node:path';
import { test } from 'vitest';
import { type Asked, expectAnswers } from '../../support/api-golden.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';
import { v1Files } from '../../support/v1-files.ts';

const files = {
  ...v1Files,
  'etl.yaml': `params: DAY=today
steps:
  - name: extract
    command: sh -c 'echo careful >&2; echo rows of $DAY'
    output: ROWS
  - name: load it
    command: sh -c 'echo loading; test "$DAY" != bad'
    depends: extract
`,
};
const text = { 'Content-Type': 'text/yaml' };

test('workflows', async () => {
  const world = await apiWorld(files);
  await run(world, 'hello', { runId: 'run-1' });

  await expectGolden('workflows', world, [
    ['GET', '/api/v2/workflows'],
    ['GET', '/api/v2/workflows?limit=2'],
    ['GET', '/api/v2/workflows?group=ops'],
    ['GET', '/api/v2/workflows?group=&tag=GREETING'],
    ['GET', '/api/v2/workflows?name=NIGHT'],
    ['GET', '/api/v2/workflows/hello'],
    ['GET', '/api/v2/workflows/a%2Fsame.yaml'],
    ['GET', '/api/v2/workflows/broken'],
  ]);
});

test('runs', async () => {
  const world = await apiWorld(files);
  await run(world, 'etl', { runId: 'run-1', params: 'DAY=bad' });
  await run(world, 'etl', { runId: 'run-2' });
  const log = '/api/v2/runs/run-1/steps/extract/logs';

  await expectGolden('runs', world, [
    ['GET', '/api/v2/runs/run-2'],
    ['GET', '/api/v2/runs/run-1/view'],
    ['GET', '/api/v2/runs/@failed/'],
    ['GET', '/api/v2/runs?status=failed,canceled'],
    ['GET', '/api/v2/runs?workflow=nobody'],
    ['GET', '/api/v2/runs?to=2020-01-01'],
    ['GET', '/api/v2/workflows/etl/runs?status=succeeded&from=2020-01-01T00:00:00Z'],
    ['GET', '/api/v2/workflows/ops%2Fnightly/runs'],
    ['GET', '/api/v2/runs/run-1/events'],
    ['GET', '/api/v2/runs/run-1/events?after=12'],
    ['GET', '/api/v2/runs/run-1/events', { headers: { 'Last-Event-ID': '1000' } }],
    ['GET', '/api/v2/runs/run-1/logs'],
    ['GET', '/api/v2/runs/run-1/logs?tail=2'],
    ['GET', '/api/v2/runs/run-1/logs?step=extract&stream=stderr'],
    ['GET', '/api/v2/runs/run-1/logs?tail=1&format=json'],
    ['GET', '/api/v2/runs/run-1/logs?step=extract', { headers: { Accept: 'application/x-ndjson' } }],
    ['GET', log],
    ['GET', `${log}?stream=stderr&attempt=1`],
    ['GET', '/api/v2/runs/run-1/steps/load%20it/logs?download=true'],
    ['GET', log, { headers: { Range: 'bytes=5-6' } }],
    ['GET', log, { headers: { Range: 'bytes=-4' } }],
    ['GET', log, { headers: { Range: 'bytes=0-1,3-4' } }],
    ['GET', log, { headers: { Range: 'bytes=5-6', 'If-Range': '"x"' } }],
    ['GET', `${log}?offset=8`],
    ['GET', `${log}?offset=80`],
  ]);
});

test('actions', async () => {
  const world = await apiWorld(files);
  await run(world, 'etl', { runId: 'run-1', params: 'DAY=bad' });
  const start: Asked = ['POST', '/api/v2/workflows/etl/runs', { body: { runId: 'run-2', params: ['DAY=a  b'] } }];
  const retry: Asked = ['POST', '/api/v2/runs/run-1/retry', { body: { params: 'DAY=good', runId: 'run-5' } }];

  await expectGolden('done', world, [
    start,
    start,
    ['POST', '/api/v2/workflows/etl/runs', { body: new URLSearchParams({ params: 'DAY="c d"', runId: 'run-3' }) }],
    ['POST', '/api/v2/workflows/etl/runs', { body: { params: { DAY: 1 }, runId: 'run-4' } }],
    ['POST', '/api/v2/workflows/a%2Fsame/runs'],
    retry,
    retry,
    [
      'POST',
      '/api/v2/runs/run-2/retry',
      { body: new URLSearchParams({ step: 'extract', useFile: 'true', runId: 'run-6' }) },
    ],
    ['POST', '/api/v2/runs/run-1/steps/load%20it/mark', { body: { status: 'succeeded' } }],
    ['POST', '/api/v2/validate', { headers: text, body: v1Files['ops/nightly.yaml'] }],
    ['POST', '/api/v2/validate', { headers: text, body: v1Files['broken.yaml'] }],
    ['POST', '/api/v2/validate', { headers: text, body: 'imports: [../outside, missing]\nsteps: []\n' }],
    ['POST', '/api/v2/validate'],
  ]);
});

test('rejected requests', async () => {
  const world = await apiWorld(files);
  await run(world, 'etl', { runId: 'run-1' });
  await run(world, 'etl', { runId: 'run-2' });
  const post = (path: string, body: object): Asked => ['POST', `/api/v2/${path}`, { body }];

  await expectGolden('refused', world, [
    ['GET', '/api/v2/workflows/helo'],
    ['GET', '/api/v2/workflows/same'],
    ['GET', '/api/v2/workflows?limit=0'],
    ['GET', '/api/v2/workflows?cursor=nonsense'],
    ['GET', '/api/v2/runs?status=good'],
    ['GET', '/api/v2/runs?from=yesterday'],
    ['GET', '/api/v2/runs?from=2026-02-30'],
    ['GET', '/api/v2/runs?from=2026-03-02&to=2026-03-01'],
    ['GET', '/api/v2/schedule?from=2026-03-02&to=2026-03-01'],
    ['GET', '/api/v2/runs?limit=501'],
    ['GET', `/api/v2/runs?cursor=${Buffer.from('["x"]').toString('base64url')}`],
    ['GET', '/api/v2/runs/run-'],
    ['GET', '/api/v2/runs/etl'],
    ['GET', '/api/v2/runs/run-9'],
    ['GET', '/api/v2/runs/run-1/logs?step=nobody'],
    ['GET', '/api/v2/runs/run-1/logs?step=extract&attempt=2'],
    ['GET', '/api/v2/runs/run-1/logs?attempt=0'],
    ['GET', '/api/v2/runs/run-1/steps/extract/logs?attempt=0'],
    ['GET', '/api/v2/runs/run-1/logs?tail=-1'],
    ['GET', '/api/v2/runs/run-1/logs?follow=perhaps'],
    ['GET', '/api/v2/runs/run-1/steps/nobody/logs'],
    ['GET', '/api/v2/runs/run-1/steps/extract/logs?stream=both'],
    ['GET', '/api/v2/runs/run-1/steps/extract/logs', { headers: { Range: 'bytes=1000-' } }],
    ['GET', '/api/v2/runs/run-1/events?after=x'],
    ['GET', '/api/v2/runs/run-1/events', { headers: { 'Last-Event-ID': 'x' } }],
    ['GET', '/api/v2/nothing'],
    ['DELETE', '/api/v2/runs/run-9'],
    post('workflows/broken/runs', {}),
    post('workflows/etl/runs', { parms: 'x' }),
    post('workflows/etl/runs', { params: 'PATH=/tmp' }),
    post('workflows/etl/runs', { params: { DAYS: '1', MAKEFLAGS: '--eval=x' } }),
    post('runs/run-1/retry', { from: 'extract', params: ['DAYS=1'] }),
    post('workflows/etl/runs', { params: { 'A B': '1' } }),
    post('workflows/etl/runs', { params: [['A', '1']] }),
    post('workflows/etl/runs', { params: 7 }),
    post('workflows/etl/runs', { runId: '../../x' }),
    post('workflows/a%2Fsame/runs', { runId: 'run-1' }),
    post('runs/run-1/stop', {}),
    post('runs/run-1/retry', {}),
    post('runs/run-1/retry', { step: 'extract', from: 'extract' }),
    post('runs/run-1/retry', { step: 'nobody' }),
    post('runs/run-1/retry', { from: 'extract', runId: 'run-2' }),
    post('runs/run-9/retry', {}),
    post('runs/run-1/steps/extract/mark', { status: 'skipped' }),
    post('runs/run-1/steps/nobody/mark', { status: 'failed' }),
    post('validate', { steps: [] }),
    ['POST', '/api/v2/workflows/etl/runs', { body: '{', headers: { 'Content-Type': 'application/json' } }],
    ['POST', '/api/v2/workflows/etl/runs', { body: '[]', headers: { 'Content-Type': 'application/json' } }],
  ]);
});

async function run({ ask, runs }: ApiWorld, name: string, fields: object): Promise<void> {
  const { status, body } = await ask('POST', `/api/v2/workflows/${name}/runs`, { body: fields });
  if (status !== 201) throw new Error(body);
  await runs.settled();
}

function expectGolden(name: string, world: ApiWorld, asked: readonly Asked[]): Promise<void> {
  return expectAnswers(join(import.meta.dirname, 'goldens', `${name}.txt`), world, asked);
}
