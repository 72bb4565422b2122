import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WfError } from '#system/errors.ts';
import { events, fileStore, refusal, rewrite, snapshot, stored, temporaryDirectory } from './world.ts';

test('a run is read back as it was created and written', async () => {
  const { store } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });

  expect(run.append(events(2))).toEqual(stored(events(2)));
  expect(run.append([])).toEqual([]);
  expect(run.append(events(1, 3))).toEqual(stored(events(1, 3), 3));
  await run.close();

  const { logs, artifacts, ...read } = store.read('r1') ?? {};
  expect(read).toEqual({ ...snapshot('r1'), events: stored(events(3)), damage: [] });
  expect(logs?.file('load', 2, 'stdout').path).toEqual(run.logs.file('load', 2, 'stdout').path);
  expect(artifacts?.open('load', 'none')).toBeNull();
});

test('another process sees every event as soon as it is appended', async () => {
  const { store, runsDir } = fileStore();
  const other = fileStore({ runsDir }).store;
  const run = store.create(snapshot('r1'), { logDir: null });

  expect(other.read('r1')?.events).toEqual([]);
  run.append(events(1));
  expect(other.read('r1')?.events).toEqual(stored(events(1)));
  await run.close();
});

test('an existing run is not changed', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  run.append(events(1));

  expect(refusal(() => store.create(snapshot('r1'), { logDir: null }))).toEqual({
    code: 'run-exists',
    message: 'a run "r1" exists already',
  });
  expect(store.read('r1')?.events).toEqual(stored(events(1)));
  expect(readdirSync(join(runsDir, '.new'))).toEqual([]);
  await run.close();
});

test.each(['', '.', '..', '.hidden', '-x', 'a/b', '../x', 'a b', 'a\0b', 'é', 'a\n', 'x'.repeat(129)])(
  'the id %j is rejected, and finds no run',
  (runId) => {
    const { store, runsDir } = fileStore();
    mkdirSync(runsDir, { recursive: true });
    expect(refusal(() => store.create(snapshot(runId), { logDir: null })).code).toBe('usage');
    expect(store.read(runId)).toBeNull();
    expect(refusal(() => store.openForRecovery(runId)).code).toBe('not-found');
    expect(readdirSync(runsDir)).toEqual([]);
  },
);

test.each(['a', '0', '_', 'A.b-c_9', 'x'.repeat(128)])('the id %j is in use', async (runId) => {
  const { store } = fileStore();
  await store.create(snapshot(runId), { logDir: null }).close();
  expect(store.list()).toEqual([runId]);
});

test('the id of a file that is not a directory is rejected without changes to the file', () => {
  const { store, runsDir } = fileStore();
  mkdirSync(runsDir, { recursive: true });
  writeFileSync(join(runsDir, 'r1'), 'mine');
  expect(refusal(() => store.create(snapshot('r1'), { logDir: null }))).toEqual({
    code: 'storage',
    message: `cannot create "${join(runsDir, 'r1')}": a part of the path is not a directory`,
  });
  expect(store.read('r1')).toBeNull();
  expect(store.list()).toEqual([]);
  expect(readFileSync(join(runsDir, 'r1'), 'utf8')).toBe('mine');
});

test('an empty store has no runs', () => {
  const { store } = fileStore();
  expect(store.list()).toEqual([]);
  expect(store.read('r1')).toBeNull();
});

test('runs are listed newest first, by the time in the id or else by the time of creation', async () => {
  const { store, runsDir } = fileStore();
  const ids = ['old', '018bcfe5-6800-7000-8000-000000000001', 'middle', '018bcfe5-6b20-7000-8000-000000000000', 'new'];
  for (const id of [...ids].reverse()) await store.create(snapshot(id), { logDir: null }).close();
  // The two UUIDs are of 1700000000.000 and 1700000000.800.
  utimesSync(join(runsDir, 'old', 'snapshot.json'), 0, 1_699_999_999);
  utimesSync(join(runsDir, 'middle', 'snapshot.json'), 0, 1_700_000_000.4);
  utimesSync(join(runsDir, 'new', 'snapshot.json'), 0, 1_700_000_001);
  mkdirSync(join(runsDir, 'no-run'));

  expect(store.list()).toEqual([...ids].reverse());
});

test('leftovers of dead processes are removed, and runs being created are kept', async () => {
  const { store, runsDir } = fileStore();
  await store.create(snapshot('r1'), { logDir: null }).close();
  const staging = join(runsDir, '.new');
  const left = ['4194305_1_no-such-boot_abcdef', `${process.pid}_1_no-such-boot_abcdef`, 'unknown'];
  for (const name of left) {
    mkdirSync(join(staging, name));
    writeFileSync(join(staging, name, 'snapshot.json'), '{');
    utimesSync(join(staging, name), 0, 0);
  }
  mkdirSync(join(staging, '4194305_1_no-such-boot_young'));

  await store.create(snapshot('r2'), { logDir: null }).close();
  expect(readdirSync(staging).sort()).toEqual(['4194305_1_no-such-boot_young', 'unknown']);
});

test('a run that was lost in a crash before its first flush was never accepted', async () => {
  const { store, runsDir } = fileStore();
  await store.create(snapshot('r1'), { logDir: null }).close();
  rewrite(join(runsDir, 'r1', 'snapshot.json'), () => Buffer.alloc(0));
  expect(store.read('r1')).toBeNull();
});

test('a run whose snapshot is damaged after its start is reported', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  run.append(events(1));
  await run.close();
  const path = join(runsDir, 'r1', 'snapshot.json');
  rewrite(path, (bytes) => bytes.fill(0x20, 100, 101));
  expect(refusal(() => store.read('r1'))).toEqual({
    code: 'storage',
    message: `"${path}" is damaged: the run cannot be shown or retried`,
  });
});

test('a run can be read without its sources or its journal', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  run.append(events(2));
  await run.close();
  const directory = join(runsDir, 'r1');

  rewrite(join(directory, 'sources.json'), (bytes) => bytes.subarray(5));
  const sourcesLost = `"${join(directory, 'sources.json')}" is damaged: places in the file cannot be shown.`;
  expect(store.read('r1')).toMatchObject({ sources: [], events: stored(events(2)), damage: [sourcesLost] });

  rmSync(join(directory, 'journal.jsonl'));
  const journalLost = `"${join(directory, 'journal.jsonl')}" is missing: its events are unknown.`;
  expect(store.read('r1')).toMatchObject({ events: [], damage: [journalLost, sourcesLost] });
});

test('an impossible path of a store is reported with the reason', () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  const { store } = fileStore({ runsDir: join(file, 'runs') });
  expect(refusal(() => store.create(snapshot('r1'), { logDir: null }))).toEqual({
    code: 'storage',
    message: `cannot create "${join(file, 'runs', 'r1')}": a part of the path is not a directory`,
  });
});

test('every line of the journal is JSON, with the event under "data"', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  run.append(events(2));
  await run.close();
  const lines = readFileSync(join(runsDir, 'r1', 'journal.jsonl'), 'utf8').split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line).data)).toEqual(stored(events(2)));
});

test('a closed run accepts no events, and can be closed again', async () => {
  const { store } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  await run.close();
  await run.close();
  expect(() => run.append(events(1))).toThrow(/is closed/);
  expect(() => run.append(events(1))).not.toThrow(WfError);
  expect(store.read('r1')?.events).toEqual([]);
});

test('a scratch directory is created on demand and removed with the run', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  expect(readdirSync(join(runsDir, 'r1'))).not.toContain('scratch');
  const scratch = run.scratch();
  expect(run.scratch()).toBe(scratch);
  writeFileSync(join(scratch, 'script'), 'true');
  await run.close();
  expect(readdirSync(join(runsDir, 'r1')).sort()).toEqual([
    'journal.jsonl',
    'logs',
    'owner',
    'snapshot.json',
    'sources.json',
  ]);
});
