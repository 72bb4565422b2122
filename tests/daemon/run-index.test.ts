import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createControl } from '#app/history-app.ts';
import { readConfig } from '#config/config.ts';
import { RunIndex } from '#daemon/run-index.ts';
import type { LifecycleParts } from '#daemon/run-lifecycle.ts';
import { readPastRun, summarizePastRun } from '#service/history/past-run.ts';
import { markStep } from '#service/runs/end-run.ts';
import { WfError } from '#system/errors.ts';
import { inProcessRuns } from '../support/in-process-runs.ts';

const quick = 'steps: [{name: a, command: "true"}]\n';
const failing = 'steps: [{name: a, command: "false"}]\n';
const slow = 'steps: [{name: a, command: sleep 60}]\n';

const asking = 'steps: [{name: a, approval: true}]\n';

test('a workflow that has never run has no runs', async () => {
  const { runIndex, file } = world({ 'a.yaml': quick });

  await runIndex.refresh();

  expect([runIndex.lastRunOf(file('a')), runIndex.runIdsOf(file('a')), runIndex.active()]).toEqual([null, [], []]);
});

test('a run of another process is seen from its beginning to its end', async () => {
  const { runIndex, look, run, runs, file } = world({ 'a.yaml': slow });

  const runId = await run('a');
  await expect
    .poll(() => look().then(() => runIndex.activeOf(file('a'))))
    .toMatchObject([{ runId, status: 'running' }]);
  expect(runIndex.lastRunOf(file('a'))).toMatchObject({ runId, workflow: 'a', status: 'running', trigger: 'api' });
  await runs.stop(runId, { by: 'me', kill: 'never' });
  await runs.settled();
  await look();

  expect(runIndex.lastRunOf(file('a'))).toMatchObject({ runId, status: 'canceled' });
  expect([runIndex.activeOf(file('a')), runIndex.active()]).toEqual([[], []]);
});

test('each workflow has its own runs, newest first', async () => {
  const { runIndex, look, run, runs, file } = world({ 'a.yaml': quick, 'b.yaml': failing });
  const first = await run('a');
  const second = await run('b');
  const third = await run('a');
  await runs.settled();

  await look();

  expect(runIndex.runIdsOf(file('a'))).toEqual([third, first]);
  expect(runIndex.runIdsOf(file('b'))).toEqual([second]);
  expect(runIndex.lastRunOf(file('b'))).toMatchObject({ status: 'failed', reason: 'step' });
  expect(runIndex.lastRunOf(file('b'))).not.toHaveProperty('steps');
});

test('nothing is read again while nothing changes', async () => {
  const { runIndex, look, run, runs, reads } = world({ 'a.yaml': quick, 'b.yaml': quick });
  await run('a');
  await run('b');
  await runs.settled();
  await look();
  await look();
  const before = { version: runIndex.version(), reads: reads() };

  for (let i = 0; i < 5; i += 1) await look();

  expect(before.reads).toBe(2);
  expect({ version: runIndex.version(), reads: reads() }).toEqual(before);
});

test('the directory is not read twice in quick succession, unless a change is reported', async () => {
  const { runIndex, run, runs, file, setTime } = world({ 'a.yaml': quick });
  setTime(1000);
  await runIndex.refresh();
  const runId = await run('a');
  await runs.settled();

  await runIndex.refresh();
  expect(runIndex.lastRunOf(file('a'))).toBeNull();
  runIndex.touch();
  await runIndex.refresh();
  expect(runIndex.lastRunOf(file('a'))).toMatchObject({ runId, status: 'succeeded' });
});

test('a mark of a finished run is seen', async () => {
  const { runIndex, look, run, runs, file, control } = world({ 'a.yaml': failing });
  const runId = await run('a');
  await runs.settled();
  await look();
  const before = runIndex.version();

  await markStep(runId, { step: 'a', status: 'succeeded', by: 'me' }, control);
  await look();

  expect(runIndex.lastRunOf(file('a'))).toMatchObject({ runId, status: 'succeeded' });
  expect(runIndex.version()).not.toBe(before);
});

test('a removed run is forgotten', async () => {
  const { runIndex, look, run, runs, file, runsDir } = world({ 'a.yaml': quick });
  const first = await run('a');
  const second = await run('a');
  await runs.settled();
  await look();

  rmSync(join(runsDir, second), { recursive: true });
  await look();

  expect(runIndex.runIdsOf(file('a'))).toEqual([first]);
  expect(runIndex.lastRunOf(file('a'))).toMatchObject({ runId: first });
});

test('checks of processes and lists share one reading of the directory, and of each run', async () => {
  const { runIndex, look, tick, untilExact, run, runs, lists, reads, told } = world({ 'a.yaml': quick });
  await runIndex.open();
  const runId = await run('a');
  await runs.settled();
  await untilExact();
  await look();
  expect(told).toEqual([`${runId} finished`]);
  const before = { lists: lists(), reads: reads() };

  for (let i = 0; i < 3; i += 1) {
    await tick();
    await look();
  }

  expect({ lists: lists(), reads: reads() }).toEqual(before);
  expect(before.lists).toBe(2);
  await runIndex.close();
});

test('the finish of a run that is not the last of its workflow is reported to lists and to the daemon', async () => {
  const { runIndex, look, tick, run, runs, file, told } = world({ 'a.yaml': slow });
  const changed: (string | null)[] = [];
  await runIndex.open();
  const first = await run('a');
  const second = await run('a');
  await expect
    .poll(() => look().then(() => runIndex.active().map(({ status }) => status)))
    .toEqual(['running', 'running']);
  expect(runIndex.running()).toBe(2);
  runIndex.watch((runId) => changed.push(runId));
  await runs.stop(first, { by: 'me', kill: 'never' });
  await expect.poll(() => tick().then(() => told)).toContain(`${first} finished`);
  expect(runIndex.activeOf(file('a'))).toMatchObject([{ runId: second }]);

  await look();

  expect(changed).toContain(first);
  expect(runIndex.headOf(first)).toMatchObject({ status: 'canceled' });
  expect(told.filter((text) => text.startsWith(first))).toEqual([`${first} began`, `${first} finished`]);
  expect(runIndex.running()).toBe(1);
  await runs.stop(second, { by: 'me', kill: 'never' });
  await runs.settled();
  await runIndex.close();
});

test('a run that finishes while its owner is checked is reported as finished', async () => {
  let finish = async (_: string) => {};
  const { runIndex, run, runs, control, told } = world({ 'a.yaml': slow }, ({ archive }) => ({
    judge: () => 'gone',
    history: {
      read: async (runId) => {
        const before = readPastRun(archive, runId);
        await finish(runId);
        return before;
      },
    },
  }));
  finish = async (runId) => {
    await runs.stop(runId, { by: 'me', kill: 'never' });
    await runs.settled();
  };
  const runId = await run('a');
  await expect.poll(() => readPastRun(control.archive, runId)?.state.owner).not.toBeNull();

  await runIndex.open();
  await runIndex.close();

  expect(told).toEqual([`${runId} began`, `${runId} finished`]);
});

test('a run that waits for approval is active, so that it counts for the overlap of its workflow', async () => {
  const { runIndex, look, run, runs, file, control } = world({ 'a.yaml': asking });
  const runId = await run('a');
  const isHeldNow = () => readPastRun(control.archive, runId)?.state.held === 1;
  try {
    await expect.poll(isHeldNow, { timeout: 10_000 }).toBe(true);
    await look();
    expect(runIndex.activeOf(file('a'))).toMatchObject([{ runId, status: 'running', waitingFor: ['a'] }]);
  } finally {
    await runs.stop(runId, { by: 'me', kill: 'never' });
  }
});

test('a failed read does not make a run that waits for approval keep its place', async () => {
  const { runIndex, tick, run, runs, told, control, failReads } = world({ 'a.yaml': asking });
  const runId = await run('a');
  try {
    await expect.poll(() => readPastRun(control.archive, runId)?.state.held, { timeout: 10_000 }).toBe(1);
    await runIndex.open();
    failReads(1);
    await expect.poll(() => tick().then(() => told), { timeout: 10_000 }).toContain(`${runId} waits for approval`);
    expect(told).toEqual([`${runId} began`, `${runId} waits for approval`]);
  } finally {
    await runs.stop(runId, { by: 'me', kill: 'never' });
    await runIndex.close();
  }
});

test('a daemon reads the last run of each workflow, and of its other runs only those that have changed', async () => {
  const { runIndex, look, run, runs, reads, file, control, nextIndex } = world({ 'a.yaml': failing, 'b.yaml': quick });
  const files = [file('a'), file('b')];
  const [first = ''] = [await run('a'), await run('a'), await run('a'), await run('b'), await run('b')];
  await runs.settled();
  await look();
  await runIndex.recent.read(files);
  await runIndex.recent.read(files);
  // The runs themselves have left the statuses of the others.
  expect(reads()).toBe(2);
  const recent = files.map(runIndex.recent.of);
  expect(recent.map((each) => each?.length)).toEqual([3, 2]);
  await runIndex.close();
  await markStep(first, { step: 'a', status: 'succeeded', by: 'me' }, control);

  const before = reads();
  const next = nextIndex();
  await next.refresh();
  await next.recent.read(files);

  const [second, third] = recent[0] ?? [];
  expect(next.recent.of(file('a'))).toEqual([second, third, { ...recent[0]?.[2], status: 'succeeded' }]);
  expect(next.recent.of(file('b'))).toEqual(recent[1]);
  // The last runs, the marked one, and its workflow.
  expect(reads() - before).toBe(4);
  await next.close();
});

test('a finished run reads the same with and without its workflow', async () => {
  const canceled = 'steps: [{name: a, command: sleep 60}]\nhandlerOn: {cancel: {command: "true"}}\n';
  const files = { 'ok.yaml': `params: P=1\n${quick}`, 'bad.yaml': failing, 'stopped.yaml': canceled };
  const { runIndex, look, run, runs, control } = world(files);
  const runIds = [await run('ok'), await run('bad'), await run('stopped')];
  await expect.poll(() => look().then(() => runIndex.headOf(runIds[2] ?? ''))).toMatchObject({ status: 'running' });
  await runs.stop(runIds[2] ?? '', { by: 'me', kill: 'never' });
  await runs.settled();
  await look();

  const heads = runIds.map((runId) => runIndex.headOf(runId));
  const whole = runIds.map((runId) => {
    const run = readPastRun(control.archive, runId);
    if (run === null) throw new Error(`run ${runId} is missing`);
    const { steps: _, handlers: __, warnings: ___, ...head } = summarizePastRun(run, 0);
    return head;
  });

  expect(heads).toEqual(whole);
  expect(whole.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'canceled']);
});

/** `replaced`: the parts of the index that differ from those of a daemon. */
function world(
  files: Readonly<Record<string, string>>,
  replaced: (control: ReturnType<typeof createControl>) => Partial<LifecycleParts> = () => ({}),
) {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const dags = join(directory, 'dags');
  mkdirSync(dags);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dags, name), text);
  const config = readConfig({ PATH: process.env['PATH'], WF_HOME: directory }, directory, { dags }, { isDaemon: true });
  const runsDir = config.runsDir ?? '';
  const control = createControl(config);
  const runs = inProcessRuns(config);
  let reads = 0;
  let lists = 0;
  let failures = 0;
  let time = 0;
  const timers: (() => void)[] = [];
  const told: string[] = [];
  const counted = <Answer>(read: (runId: string) => Answer) => {
    return (runId: string) => {
      reads += 1;
      return read(runId);
    };
  };
  const { archive, history } = control;
  const read = (runId: string) => {
    if (failures === 0) return archive.read(runId);
    failures -= 1;
    throw new WfError('storage', 'too many open files');
  };
  const fail = (error: unknown) => {
    throw error;
  };
  const ignore = () => {};
  const indexParts: LifecycleParts = {
    archive: {
      ...archive,
      read: counted(read),
      readEvents: counted(archive.readEvents),
      list: () => {
        lists += 1;
        return archive.list();
      },
    },
    history,
    judge: () => 'alive',
    clock: {
      now: () => time,
      elapsed: () => time,
      setTimer: (_, callback) => {
        timers.push(callback);
        return ignore;
      },
    },
    memory: { read: () => [], writeInBackground: async () => {} },
    listener: {
      waits: ignore,
      begun: (runId) => told.push(`${runId} began`),
      held: (runId, isHeld) => told.push(`${runId} ${isHeld ? 'waits for approval' : 'runs on'}`),
      over: ({ runId }) => told.push(`${runId} finished`),
      waitsAgain: ignore,
      gone: (runId) => told.push(`${runId} is gone`),
    },
    report: fail,
    ...replaced(control),
  };
  const runIndex = new RunIndex(indexParts);
  onTestFinished(async () => {
    await runs.settled();
    rmSync(directory, { recursive: true });
  });
  return {
    runIndex,
    runs,
    control,
    runsDir,
    reads: () => reads,
    /** Lets the next reads of whole runs fail. */
    failReads: (count: number) => {
      failures = count;
    },
    /** The index of the next daemon. */
    nextIndex: () => new RunIndex(indexParts),
    lists: () => lists,
    /** Resolves when the time of the directory of runs shows each change. */
    untilExact: () => expect.poll(archive.listStamp).not.toBeNull(),
    told,
    /** Lets the timer of the index fire, and resolves after its check. */
    tick: async () => {
      const [fire = ignore] = timers.splice(0);
      time += 1000;
      fire();
      await expect.poll(() => timers.length).toBe(1);
    },
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
      return runIndex.refresh();
    },
  };
}
