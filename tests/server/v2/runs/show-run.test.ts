import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { jsonOf } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';

type View = {
  readonly run: { readonly status: string };
  readonly steps: readonly { readonly name: string; readonly history: readonly object[] }[];
  readonly graph: { readonly nodes: readonly { readonly name: string; readonly place: object | null }[] } | null;
  readonly sources: readonly { readonly path: string; readonly text: string }[];
  readonly subRuns: readonly {
    readonly step: string;
    readonly run: { readonly workflow: string };
  }[];
  readonly fileStatus: string | null;
  readonly masked: boolean;
};

const flow = `imports: [more]
steps:
  - name: one
    command: sh -c 'exit 3'
    retryPolicy: {limit: 1, intervalSec: 0}
    continueOn: {failure: true}
  - {name: child, run: inner, depends: [one, imported]}
`;
const more = 'steps: [{name: imported, command: "true"}]\n';
const inner = 'steps: [{name: a, command: "true"}]\n';

test('the view has the attempts of each step, its position in its file, and the runs of sub-workflows', async () => {
  const world = await apiWorld({ 'flow.yaml': flow, 'more.yaml': more, 'inner.yaml': inner });
  const view = await viewOf(world, 'flow');

  expect(view.run.status).toBe('partially_succeeded');
  expect(view.steps.map(({ name, history }) => [name, history.length])).toEqual([
    ['imported', 1],
    ['one', 2],
    ['child', 1],
  ]);
  expect(view.sources.map(({ path, text }) => [path, text])).toEqual([
    [join(world.dags, 'flow.yaml'), flow],
    [join(world.dags, 'more.yaml'), more],
  ]);
  expect(view.graph?.nodes.map(({ name, place }) => [name, place])).toEqual([
    ['imported', { source: 1, line: 1, column: 9, endLine: 1, endColumn: expect.any(Number) }],
    ['one', { source: 0, line: 3, column: 5, endLine: 3, endColumn: 14 }],
    ['child', { source: 0, line: 7, column: 5, endLine: 7, endColumn: expect.any(Number) }],
  ]);
  expect(view.subRuns).toMatchObject([
    { step: 'child', run: { workflow: 'inner', trigger: 'workflow', status: 'succeeded' } },
  ]);
});

test('the view reports whether a file has changed since the run', async () => {
  const world = await apiWorld({ 'flow.yaml': flow, 'more.yaml': more, 'inner.yaml': inner });
  expect((await viewOf(world, 'flow')).fileStatus).toBe('same');
  const etag = async () => (await world.ask('GET', '/api/v2/runs/r/view')).headers.etag ?? '';
  const before = await etag();
  const known = { headers: { 'If-None-Match': before } };
  expect((await world.ask('GET', '/api/v2/runs/r/view', known)).status).toBe(304);

  writeFileSync(join(world.dags, 'more.yaml'), `${more}# changed\n`);
  expect(jsonOf<View>(await world.ask('GET', '/api/v2/runs/r/view', known)).fileStatus).toBe('changed');
  rmSync(join(world.dags, 'flow.yaml'));
  expect(jsonOf<View>(await world.ask('GET', '/api/v2/runs/r/view')).fileStatus).toBe('gone');
});

test('the view is cached for a client until an event of the run is stored', async () => {
  const world = await apiWorld({ 'inner.yaml': inner });
  await viewOf(world, 'inner');
  const { headers } = await world.ask('GET', '/api/v2/runs/r/view');
  const known = { headers: { 'If-None-Match': headers.etag ?? '' } };
  // A new view would have no graph.
  writeFileSync(join(world.directory, 'home/runs/r/snapshot.json'), '{');

  expect((await world.ask('GET', '/api/v2/runs/r/view', known)).status).toBe(304);
  appendFileSync(join(world.directory, 'home/runs/r/journal.jsonl'), '\n');
  expect(jsonOf<View>(await world.ask('GET', '/api/v2/runs/r/view', known)).graph).toBe(null);
});

const changes: readonly [string, (directory: string) => void][] = [
  [
    'flow',
    (directory) => {
      writeFileSync(join(directory, 'snapshot.json'), '{');
      appendFileSync(join(directory, 'journal.jsonl'), '\n');
    },
  ],
  ['inner', (directory) => rmSync(directory, { recursive: true })],
];

test.each(changes)('the view is not cached if the run of "%s" changed while it was read', async (workflow, change) => {
  const world = await apiWorld({ 'flow.yaml': 'steps: [{name: child, run: inner}]', 'inner.yaml': inner });
  await viewOf(world, 'flow');
  const { read } = world.app.history;
  const spy = vi.spyOn(world.app.history, 'read').mockImplementation(async (id) => {
    const run = await read(id);
    if (run?.state.workflow === workflow) change(join(world.directory, 'home/runs', id));
    return run;
  });
  const { headers, body } = await world.ask('GET', '/api/v2/runs/r/view');
  spy.mockRestore();
  const known = { headers: { 'If-None-Match': headers.etag ?? '' } };
  const next = await world.ask('GET', '/api/v2/runs/r/view', known);
  expect([next.status, next.body === body]).toEqual([200, false]);
});

test('the view of a run that is being removed is not cached', async () => {
  const world = await apiWorld({ 'inner.yaml': inner });
  await viewOf(world, 'inner');
  const directory = join(world.directory, 'home/runs/r');
  rmSync(join(directory, 'journal.jsonl'));
  const { read } = world.app.history;
  const spy = vi.spyOn(world.app.history, 'read').mockImplementation(async (id) => {
    const run = await read(id);
    rmSync(directory, { recursive: true });
    return run;
  });
  const { headers, status } = await world.ask('GET', '/api/v2/runs/r/view');
  spy.mockRestore();
  const known = { headers: { 'If-None-Match': headers.etag ?? '' } };
  const next = await world.ask('GET', '/api/v2/runs/r/view', known);

  expect([status, next.status]).toEqual([200, 404]);
});

test('the view shows no secret in the file', async () => {
  const text = `secrets: [TOKEN]\nenv: [TOKEN: hunter2-and-more]\nsteps: [{name: a, command: echo $TOKEN}]\n`;
  const world = await apiWorld({ 'flow.yaml': text });
  const view = await viewOf(world, 'flow');

  expect(JSON.stringify(view)).not.toContain('hunter2');
  expect(view.sources[0]?.text).toContain('TOKEN: ***');
  expect([view.masked, view.fileStatus]).toEqual([true, null]);
});

test('the view of a run with damaged files has the remaining data', async () => {
  const world = await apiWorld({ 'inner.yaml': inner });
  await viewOf(world, 'inner');
  writeFileSync(join(world.directory, 'home/runs/r/snapshot.json'), '{');

  const view = jsonOf<View>(await world.ask('GET', '/api/v2/runs/r/view'));
  expect([view.run.status, view.graph, view.sources, view.fileStatus]).toEqual(['succeeded', null, [], null]);
});

async function viewOf({ ask, runs }: ApiWorld, name: string): Promise<View> {
  expect((await ask('POST', `/api/v2/workflows/${name}/runs`, { body: { runId: 'r' } })).status).toBe(201);
  await runs.settled();
  return jsonOf<View>(await ask('GET', '/api/v2/runs/r/view'));
}

test('a stream after the cursor of a view reports what has changed since, also when the view was not sent again', async () => {
  const world = await apiWorld({ 'inner.yaml': inner });
  await viewOf(world, 'inner');
  const shown = (await world.ask('GET', '/api/v2/runs/r/view')).headers;
  const again = await world.ask('GET', '/api/v2/runs/r/view', { headers: { 'If-None-Match': shown.etag ?? '' } });
  const cursors = [shown, again.headers].map((headers) => String(headers['wf-cursor']));
  const changed = async () =>
    Promise.all(
      cursors.map(async (after) => {
        const { body } = await world.ask('GET', `/api/v2/events?run=r&after=${after}&follow=false`);
        return body.match(/(?<=^event: ).*/gm);
      }),
    );
  expect(again.status).toBe(304);
  expect(await changed()).toEqual([['daemon'], ['daemon']]);

  const [step] = jsonOf<View>(await world.ask('GET', '/api/v2/runs/r/view')).steps;
  await world.ask('POST', `/api/v2/runs/r/steps/${step?.name}/mark`, { body: { status: 'failed' } });
  for (const events of await changed()) expect(events).toEqual(expect.arrayContaining(['run', 'step']));
});
