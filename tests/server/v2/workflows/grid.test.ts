import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonOf } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';

const flow = (last: string) => `params: FAIL=no
steps:
  - {name: a, command: "true"}
  - name: b
    command: sh -c 'test $FAIL = no'
    depends: a
  - {name: ${last}, command: "true", depends: b}
handlerOn:
  failure: {command: "true"}
`;
const quick = 'steps: [{name: a, command: "true"}]\n';

type Grid = {
  readonly steps: readonly string[];
  readonly runs: readonly { readonly runId: string; readonly cells: string }[];
  readonly nextCursor: string | null;
};
type Page = {
  readonly workflows: readonly {
    readonly id: string;
    readonly recent: readonly { readonly runId: string; readonly status: string; readonly durationMs: number }[] | null;
  }[];
};

test('the grid has a letter for each step of each run, page by page, including removed steps', async () => {
  const world = await apiWorld({ 'w.yaml': flow('c'), 'other.yaml': quick });
  await run(world, 'w', 'r1');
  await run(world, 'other', 'x');
  writeFileSync(join(world.dags, 'w.yaml'), flow('d'));
  await world.app.catalog.refresh();
  await run(world, 'w', 'r2', 'FAIL=yes');
  await run(world, 'w', 'r3');
  const ask = async (query: string) => jsonOf<Grid>(await world.ask('GET', `/api/v2/workflows/w/grid?${query}`));

  const all = await ask('');
  expect(all.steps).toEqual(['a', 'b', 'd', 'c', 'handlerOn.failure']);
  expect(all.runs.map(({ runId, cells }) => [runId, cells])).toEqual([
    ['r3', 'SSS--'],
    ['r2', 'SFU-S'],
    ['r1', 'SS-S-'],
  ]);
  expect(all.nextCursor).toBeNull();
  const first = await ask('limit=2');
  const second = await ask(`limit=2&cursor=${first.nextCursor}`);
  expect([...first.runs, ...second.runs].map(({ runId }) => runId)).toEqual(['r3', 'r2', 'r1']);
  expect([second.steps, second.nextCursor]).toEqual([['a', 'b', 'c'], null]);
});

test('the list has the last 20 runs of each workflow with their current statuses', async () => {
  const world = await apiWorld({ 'w.yaml': 'steps: [{name: a, command: "false"}]\n', 'never.yaml': quick });
  for (let i = 0; i < 22; i += 1) await run(world, 'w', `r${i}`);
  const recent = async () => {
    const { workflows } = jsonOf<Page>(await world.ask('GET', '/api/v2/workflows'));
    return new Map(workflows.map((workflow) => [workflow.id, workflow.recent]));
  };

  const before = await recent();
  expect(before.get('never.yaml')).toEqual([]);
  const ids = Array.from({ length: 20 }, (_, i) => `r${21 - i}`);
  expect(before.get('w.yaml')).toEqual(
    ids.map((runId) => ({ runId, status: 'failed', durationMs: expect.any(Number) })),
  );

  await world.ask('POST', '/api/v2/runs/r5/steps/a/mark', { body: { status: 'succeeded' } });
  await run(world, 'w', 'r22');
  const after = (await recent()).get('w.yaml') ?? [];
  expect(after.map(({ runId }) => runId)).toEqual(['r22', ...ids.slice(0, -1)]);
  expect(after.find(({ runId }) => runId === 'r5')?.status).toBe('succeeded');
});

async function run({ ask, runs }: ApiWorld, name: string, runId: string, params = ''): Promise<void> {
  expect((await ask('POST', `/api/v2/workflows/${name}/runs`, { body: { runId, params } })).status).toBe(201);
  await runs.settled();
}
