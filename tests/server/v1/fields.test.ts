import { expect, test } from 'vitest';
import { jsonOf } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';

type Fields = { readonly [field: string]: unknown };
type Run = { readonly Nodes: readonly Fields[]; readonly [field: string]: unknown };
type Detail = {
  readonly DAG: {
    readonly DAG: { readonly Steps: readonly Fields[]; readonly HandlerOn: Fields };
    readonly Status: Run;
  };
};
type Listing = { readonly DAGs: readonly { readonly File: string }[] } & Fields;

const untouched = { Log: '', StartedAt: '-', FinishedAt: '-', Status: 0, RetryCount: 0, DoneCount: 0, Error: '' };

test('a step has its program and words as written, its directory, and null for no dependencies', async () => {
  const world = await apiWorld({
    'a.yaml': `steps:
  - name: text
    command: echo "hello $NAME"  > out.txt
    args: [last]
  - {name: list, command: [bash, -c, 'echo one'], dir: sub, depends: text}
  - {name: script, script: "echo one\\n", dir: "$BASE/x"}
  - {name: child, run: b, params: 'A=1 "x y"', dir: /srv}
`,
    'b.yaml': 'steps: [{name: one, command: "true"}]\n',
  });

  const { Steps } = (await detail(world, 'a')).DAG.DAG;

  const shown = Steps.map(({ Command, Args, CmdWithArgs, Dir, Depends }) => [Command, Args, CmdWithArgs, Dir, Depends]);
  expect(shown).toEqual([
    ['echo', ['"hello', '$NAME"', '>', 'out.txt', 'last'], 'echo "hello $NAME"  > out.txt last', world.dags, null],
    ['bash', ['-c', 'echo one'], 'bash -c echo one', `${world.dags}/sub`, ['text']],
    ['', [], '', '$BASE/x', null],
    ['run', ['b', 'A=1 "x y"'], 'b A=1 "x y"', '/srv', null],
  ]);
});

test('handlers have their v1 names before a run and in runs that do not reach them', async () => {
  const world = await apiWorld({
    'a.yaml': `handlerOn:
  success: {command: echo good}
  failure: {command: echo bad}
steps: [{name: one, command: "true"}]
`,
  });
  const before = await detail(world, 'a');
  await run(world, 'a', 'r');
  const { Status } = (await detail(world, 'a')).DAG;

  const unreached = { Step: expect.objectContaining({ Name: 'onFailure' }), ...untouched };
  expect(before.DAG.DAG.HandlerOn).toMatchObject({ Success: { Name: 'onSuccess', Depends: null }, Exit: null });
  expect(before.DAG.Status).toMatchObject({ OnFailure: unreached, OnExit: null, OnCancel: null });
  expect(Status).toMatchObject({ OnFailure: unreached, OnSuccess: { Step: { Name: 'onSuccess' }, Status: 4 } });
});

test('a skipped step has no times and no log, and repetitions are not retries', async () => {
  const world = await apiWorld({
    'a.yaml': `steps:
  - {name: skipped, command: echo no, preconditions: [{condition: a, expected: b}]}
  - {name: after, command: echo no, depends: skipped}
  - name: repeated
    command: sh -c 'echo x >> count; test $(wc -l < count) -lt 3'
    repeatPolicy: {repeat: true, intervalSec: 0}
  - {name: retried, command: "false", retryPolicy: {limit: 2}, continueOn: {failure: true}}
  - {name: blocked, command: "true", depends: repeated}
`,
  });
  await run(world, 'a', 'r');

  const { Nodes } = (await detail(world, 'a')).DAG.Status;

  const counts = Nodes.map(({ Status, RetryCount, DoneCount, Log, StartedAt, FinishedAt }) => {
    return [Status, RetryCount, DoneCount, Log !== '', StartedAt !== '-', FinishedAt !== '-'];
  });
  expect(counts).toEqual([
    [5, 0, 0, false, false, false],
    [5, 0, 0, false, false, false],
    [2, 0, 3, true, true, true],
    [2, 2, 3, true, true, true],
    [3, 0, 0, false, false, false],
  ]);
});

test('the log of a step has all its attempts in order, with a separator line', async () => {
  const world = await apiWorld({
    'a.yaml': `steps:
  - {name: retried, script: 'printf "out $WF_ATTEMPT"; echo "err $WF_ATTEMPT" >&2; exit 1', retryPolicy: {limit: 2}}
  - name: repeated
    script: echo "again $WF_ATTEMPT"; test $WF_ATTEMPT -lt 150
    repeatPolicy: {repeat: true}
`,
  });
  await run(world, 'a', 'r');
  const content = async (step: string) => {
    const { StepLog } = jsonOf<{ StepLog: Fields }>(await world.ask('GET', `/api/v1/dags/a?tab=log&step=${step}`));
    return StepLog['Content'];
  };

  expect(await content('retried')).toBe('out 1err 1\n--- attempt 2 ---\nout 2err 2\n--- attempt 3 ---\nout 3err 3\n');
  const lines = String(await content('repeated')).split('\n');
  expect([lines.slice(0, 3), lines.slice(-3), lines.length]).toEqual([
    ['[50 earlier attempts are left out here]', '--- attempt 51 ---', 'again 51'],
    ['--- attempt 150 ---', 'again 150', ''],
    202,
  ]);
});

test('a tolerated failure is finished in v1, and failed in a strict run', async () => {
  const world = await apiWorld({
    'a.yaml': 'steps: [{name: one, command: "false", continueOn: {failure: true}}]\n',
  });
  const statusOf = async (body: object) => {
    const accepted = await world.ask('POST', '/api/v2/workflows/a/runs', { body });
    expect(accepted.status).toBe(201);
    await world.runs.settled();
    return (await detail(world, 'a')).DAG.Status['Status'];
  };

  expect([await statusOf({}), await statusOf({ strict: true })]).toEqual([4, 2]);
});

test('an invalid workflow is listed with its group, in Errors only', async () => {
  const good = 'steps: [{name: one, command: "true"}]\n';
  const world = await apiWorld({
    'plain.yaml': good,
    'own.yaml': `group: etl\ndescription: Loads the Warehouse\ntags: [Nightly, nightly]\n${good}`,
    'etl/inside.yaml': good,
    'etl/broken.yaml': 'steps: []\n',
    'other/broken2.yaml': 'steps: []\n',
  });
  const list = async (query: string) => {
    const { DAGs, Errors, ...rest } = jsonOf<Listing>(await world.ask('GET', `/api/v1/dags?${query}`));
    const errors = (Errors as readonly string[]).map((text) => text.split(':')[0]);
    return { files: DAGs.map(({ File }) => File), errors, ...rest };
  };

  expect(await list('group=etl')).toEqual({
    files: ['inside.yaml', 'own.yaml'],
    errors: ['broken.yaml'],
    HasError: true,
    PageCount: 1,
  });
  const { files, errors } = await list('limit=2');
  expect([files, errors]).toEqual([
    ['inside.yaml', 'own.yaml'],
    ['broken.yaml', 'broken2.yaml'],
  ]);
  expect(await list('limit=3')).toMatchObject({ PageCount: 1 });
  expect(await list('group=none')).toMatchObject({ errors: [], HasError: false });
  expect((await list('searchName=warehouse')).files).toEqual(['own.yaml']);
  expect((await list('searchTag=NIGHTLY')).files).toEqual(['own.yaml']);
  expect(jsonOf(await world.ask('GET', '/api/v1/tags'))).toEqual({ Tags: ['nightly'], Errors: [] });
});

test('a retry of a succeeded run repeats every step with the same parameters', async () => {
  const world = await apiWorld({ 'a.yaml': 'params: X=1\nsteps: [{name: one, command: echo $X, output: OUT}]\n' });
  await run(world, 'a', 'r', 'X=2');
  await world.ask('POST', '/api/v1/dags/a', {
    body: { action: 'save', value: 'steps: [{name: two, command: "true"}]\n' },
  });

  const retried = await world.ask('POST', '/api/v1/dags/a', { body: { action: 'retry', requestId: 'r' } });
  await world.runs.settled();

  const { RequestId } = jsonOf<{ RequestId: string }>(retried);
  const { Status } = (await detail(world, 'a')).DAG;
  expect(Status).toMatchObject({
    RequestId,
    Status: 4,
    Params: 'X=2',
    Nodes: [{ Step: { Name: 'one' }, DoneCount: 1 }],
  });
  const log = jsonOf<{ StepLog: Fields }>(await world.ask('GET', '/api/v1/dags/a?tab=log&step=one'));
  expect(log.StepLog['Content']).toBe('2\n');
});

test.each([
  ['v1/dags/a', { action: 'start', params: '{"X": "2 3"}' }],
  ['v2/workflows/a/runs', { params: '{"X": "2 3"}' }],
  ['v2/workflows/a/runs', { params: ['{"X": "2 3"}'] }],
])('%s takes a JSON object as named parameters: %j', async (path, body) => {
  const world = await apiWorld({ 'a.yaml': 'params: X=1 Y=y\nsteps: [{name: one, command: echo $X}]\n' });
  const { status } = await world.ask('POST', `/api/${path}`, { body });
  await world.runs.settled();
  expect([status < 300, (await detail(world, 'a')).DAG.Status]).toEqual([
    true,
    expect.objectContaining({ Params: 'X="2 3" Y=y' }),
  ]);
});

test('a search accepts a regular expression, and rejects an invalid or too large one', async () => {
  const { ask } = await apiWorld({ 'a.yaml': 'steps: [{name: one, command: Echo 12}]\n', 'b.yaml': 'steps: []\n' });
  const search = (q: string) => ask('GET', `/api/v1/search?q=${encodeURIComponent(q)}`);
  const names = async (q: string) =>
    jsonOf<{ Results: readonly Fields[] }>(await search(q)).Results.map(({ Name }) => Name);

  expect(await names('echo [0-9]+')).toEqual(['a']);
  expect(await names('^steps: \\[\\]')).toEqual(['b']);
  expect(await names('E.ho')).toEqual(['a']);
  expect(await names('echo 12')).toEqual(['a']);
  for (const wrong of ['[', '(a{1000}){1000}', '']) expect((await search(wrong)).status).toBe(400);
});

test('an unknown workflow is a 404 with a workflow that has only an error', async () => {
  const { ask } = await apiWorld({});

  const { status, body } = await ask('GET', '/api/v1/dags/nothing');

  const { DAG, Errors } = JSON.parse(body);
  expect([status, Errors.length]).toEqual([404, 1]);
  expect(DAG).toMatchObject({
    Error: Errors[0],
    DAG: { Name: 'nothing', Steps: [] },
    Status: { Status: 0, Nodes: [] },
  });
});

async function detail({ ask }: ApiWorld, name: string): Promise<Detail> {
  return jsonOf<Detail>(await ask('GET', `/api/v1/dags/${name}`));
}

async function run({ ask, runs }: ApiWorld, name: string, requestId: string, params = ''): Promise<void> {
  const { status, body } = await ask('POST', `/api/v1/dags/${name}`, { body: { action: 'start', requestId, params } });
  if (status !== 200) throw new Error(body);
  await runs.settled();
}
