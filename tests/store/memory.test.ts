import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryStore } from '#store/memory.ts';
import { closeLog, events, oneLog, refusal, snapshot, stored, temporaryDirectory } from './world.ts';

function memoryStore() {
  const parent = temporaryDirectory();
  return { store: createMemoryStore({ tempDir: () => parent }), parent };
}

test('events are kept in memory, numbered from 1, also after the end', async () => {
  const { store } = memoryStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  expect(run.append(events(2))).toEqual(stored(events(2)));
  expect(run.append(events(1, 3))).toEqual(stored(events(1, 3), 3));
  await run.flush();
  await run.close();
  expect(store.read('r1')).toMatchObject({ ...snapshot('r1'), events: stored(events(3)), damage: [] });
  expect(() => run.append(events(1))).toThrow(/is closed/);
});

test('logs and scratch files are in a private directory that is removed with the run', async () => {
  const { store, parent } = memoryStore();
  const run = store.create(snapshot('r1'), { logDir: '/not/used' });
  const { log } = run.logs.open('load', 1, oneLog);
  writeSync(log.stdoutFd, 'out');
  closeLog(log);
  writeFileSync(join(run.scratch(), 'script'), 'true');

  const [made, ...others] = readdirSync(parent).map((name) => join(parent, name));
  expect(others).toEqual([]);
  expect((statSync(made ?? '').mode & 0o777).toString(8)).toBe('700');
  expect(readFileSync(join(made ?? '', 'logs', '00002-load.1.out'), 'utf8')).toBe('out');
  expect(store.read('r1')?.logs.file('load', 1, 'stdout').path).toEqual(log.stdoutPath);

  await run.close();
  await run.close();
  expect(readdirSync(parent)).toEqual([]);
});

test('an id can be used once, and newer runs are listed first', async () => {
  const { store, parent } = memoryStore();
  const runs = ['b', 'a', 'c'].map((runId) => store.create(snapshot(runId), { logDir: null }));
  expect(refusal(() => store.create(snapshot('a'), { logDir: null })).code).toBe('run-exists');
  expect(refusal(() => store.create(snapshot('../a'), { logDir: null })).code).toBe('usage');
  expect(store.list()).toEqual(['c', 'a', 'b']);
  expect(store.read('d')).toBeNull();
  await Promise.all(runs.map((run) => run.close()));
  expect(readdirSync(parent)).toEqual([]);
});

test('a path that cannot be a directory is reported with the reason', () => {
  const parent = join(temporaryDirectory(), 'gone');
  const store = createMemoryStore({ tempDir: () => parent });
  expect(refusal(() => store.create(snapshot('r1'), { logDir: null }))).toEqual({
    code: 'storage',
    message: `cannot create a directory in "${parent}": no such file or directory`,
  });
  mkdirSync(parent);
  const run = store.create(snapshot('r1'), { logDir: null });
  rmSync(parent, { recursive: true });
  return run.close();
});
