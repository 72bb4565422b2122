import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProgram, start } from './program.ts';
import { events, fileStore, snapshot } from './world.ts';

test('concurrent processes remove each run once, and no reader sees a partial run', async () => {
  const { store, runsDir } = fileStore();
  const ids = Array.from({ length: 300 }, (_, number) => `run-${number}`);
  for (const id of ids) {
    const run = store.create(snapshot(id), { logDir: null });
    run.append(events(3));
    await run.close();
  }
  const file = buildProgram('remove-runs');
  const running = [0, 1, 2].map(() => start(file, [runsDir]));
  for (const { lines } of running) expect(await lines.next()).toMatchObject({ value: 'ready' });
  for (const { child } of running) child.stdin?.write('go\n');
  const answers = Promise.all(running.map(({ lines }) => lines.next()));
  let isOver = false;
  void answers.then(() => {
    isOver = true;
  });
  let reads = 0;
  for (; !isOver; await new Promise(setImmediate)) {
    for (const id of ids) {
      const run = existsSync(join(runsDir, id)) ? store.read(id) : null;
      if (run !== null) expect([run.events.length, run.damage]).toEqual([3, []]);
      reads += run === null ? 0 : 1;
    }
  }
  const removed = (await answers).flatMap(({ value }) => String(value).split(' ').filter(Boolean));
  for (const { child } of running) child.stdin?.end();
  await Promise.all(running.map(({ ended }) => ended));
  // If several processes try to remove a run at the same moment, none of them may succeed.
  const again = await Promise.all(ids.map(async (id) => ((await store.remove(id, () => true)) === null ? [] : [id])));
  const left = again.flat();
  expect(store.list()).toEqual([]);
  expect(new Set(removed).size).toBe(removed.length);
  expect([...removed, ...left].toSorted()).toEqual(ids.toSorted());
  expect(removed.length).toBeGreaterThan(0);
  await store.finishRemovals();
  expect(reads).toBeGreaterThan(0);
  expect([store.list(), readdirSync(join(runsDir, '.trash'))]).toEqual([[], []]);
});

test('an owned run is not removed, and a refused removal leaves a run without an owner', async () => {
  const { store, runsDir } = fileStore();
  const owned = store.create(snapshot('owned'), { logDir: null });
  await store.create(snapshot('free'), { logDir: null }).close();
  expect([
    await store.remove('owned', () => true),
    await store.remove('free', () => false),
    await store.remove('none', () => true),
  ]).toEqual([null, null, null]);
  let asked = 0;
  expect(await store.remove('free', () => ++asked === 1)).toBeNull();
  expect([asked, store.mayGoOn('free')]).toEqual([2, false]);
  await owned.close();
  expect(await store.remove('owned', () => true)).toBeGreaterThan(0);
  expect(readdirSync(runsDir).toSorted()).toEqual(['.index', '.new', '.trash', 'free']);
});
