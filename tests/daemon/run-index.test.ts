import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createControl } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { createRunBoard, type RunBoard } from '../../src/daemon/run-index.ts';
import { markStep } from '../../src/service/history/mark-step.ts';
import { createRunStamps } from '../../src/store/files/listing/run-stamps.ts';
import { inProcessRuns } from '../support/in-process-runs.ts';

const quick = 'steps: [{name: a, command: "true"}]\n';
const failing = 'steps: [{name: a, command: "false"}]\n';
const slow = 'steps: [{name: a, command: sleep 60}]\n';

test('a workflow that has never run has no runs', async () => {
  const { board, file } = world({ 'a.yaml': quick });

  await board.refresh();

  expect([board.lastRunOf(file('a')), board.runIdsOf(file('a')), board.active()]).toEqual([null, [], []]);
});

test('a run that others make is seen from its beginning to its end', async () => {
  const { board, look, run, runs, file } = world({ 'a.yaml': slow });

  const runId = await run('a');
  await expect.poll(() => look().then(() => board.activeOf(file('a')))).toMatchObject([{ runId, status: 'running' }]);
  expect(board.lastRunOf(file('a'))).toMatchObject({ runId, workflow: 'a', status: 'running', trigger: 'api' });
  await runs.stop(runId, { by: 'me', kill: 'never' });
  await runs.settled();
  await look();

  expect(board.lastRunOf(file('a'))).toMatchObject({ runId, status: 'canceled' });
  expect([board.activeOf(file('a')), board.active()]).toEqual([[], []]);
});

test('each workflow has its own runs, newest first', async () => {
  const { board, look, run, runs, file } = world({ 'a.yaml': quick, 'b.yaml': failing });
  const first = await run('a');
  const second = await run('b');
  const third = await run('a');
  await runs.settled();

  await look();

  expect(board.runIdsOf(file('a'))).toEqual([third, first]);
  expect(board.runIdsOf(file('b'))).toEqual([second]);
  expect(board.lastRunOf(file('b'))).toMatchObject({ status: 'failed', reason: 'step' });
  expect(board.lastRunOf(file('b'))).not.toHaveProperty('steps');
});

test('nothing is read again while nothing changes', async () => {
  const { board, look, run, runs, reads } = world({ 'a.yaml': quick, 'b.yaml': quick });
  await run('a');
  await run('b');
  await runs.settled();
  await look();
  await look();
  const before = { version: board.version(), reads: reads() };

  for (let i = 0; i < 5; i += 1) await look();

  expect(before.reads).toBe(2);
  expect({ version: board.version(), reads: reads() }).toEqual(before);
});

test('between two looks in quick succession it is not even looked, unless somebody knows of a change', async () => {
  const { board, run, runs, file, setTime } = world({ 'a.yaml': quick });
  setTime(1000);
  await board.refresh();
  const runId = await run('a');
  await runs.settled();

  await board.refresh();
  expect(board.lastRunOf(file('a'))).toBeNull();
  board.touch();
  await board.refresh();
  expect(board.lastRunOf(file('a'))).toMatchObject({ runId, status: 'succeeded' });
});

test('a run that is marked after its end is seen', async () => {
  const { board, look, run, runs, file, control } = world({ 'a.yaml': failing });
  const runId = await run('a');
  await runs.settled();
  await look();
  const before = board.version();

  await markStep(runId, { step: 'a', status: 'succeeded', by: 'me' }, control);
  await look();

  expect(board.lastRunOf(file('a'))).toMatchObject({ runId, status: 'succeeded' });
  expect(board.version()).not.toBe(before);
});

test('a run that is removed is forgotten', async () => {
  const { board, look, run, runs, file, runsDir } = world({ 'a.yaml': quick });
  const first = await run('a');
  const second = await run('a');
  await runs.settled();
  await look();

  rmSync(join(runsDir, second), { recursive: true });
  await look();

  expect(board.runIdsOf(file('a'))).toEqual([first]);
  expect(board.lastRunOf(file('a'))).toMatchObject({ runId: first });
});

function world(files: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const dags = join(directory, 'dags');
  mkdirSync(dags);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dags, name), text);
  const config = readConfig({ PATH: process.env['PATH'], WF_HOME: directory }, directory, { dags }, { isDaemon: true });
  const runsDir = config.runsDir ?? '';
  const control = createControl(config);
  const runs = inProcessRuns(config);
  let reads = 0;
  let time = 0;
  const read: typeof control.archive.read = (runId) => {
    reads += 1;
    return control.archive.read(runId);
  };
  const board: RunBoard = createRunBoard({
    archive: { ...control.archive, read },
    stamps: createRunStamps(runsDir, Date.now),
    now: () => time,
  });
  onTestFinished(async () => {
    await runs.settled();
    rmSync(directory, { recursive: true });
  });
  return {
    board,
    runs,
    control,
    runsDir,
    reads: () => reads,
    setTime: (now: number) => {
      time = now;
    },
    file: (name: string) => join(dags, `${name}.yaml`),
    run: async (name: string) => {
      const workflow = { name: join(dags, `${name}.yaml`) };
      return (await runs.start({ workflow, params: null, runId: null, trigger: 'api' })).runId;
    },
    /** Later by more than any pause. */
    look: () => {
      time += 5000;
      return board.refresh();
    },
  };
}
