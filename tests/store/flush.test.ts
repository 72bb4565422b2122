import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JournalCalls, journalCalls } from '#store/files/journal/journal-file.ts';
import { createGroupCommit } from '#store/files/journal/run-journal.ts';
import { events, fileStore, snapshot } from './world.ts';

/** Flushes that tests complete. */
function heldSync() {
  const held: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const sync = () => new Promise<void>((resolve, reject) => held.push({ resolve, reject }));
  return { sync, held };
}

/** Settles what is settled: promise callbacks run before the next turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('one flush runs at a time, and all requests during it share the next', async () => {
  const { sync, held } = heldSync();
  const commit = createGroupCommit(sync);
  const ended: string[] = [];
  const flush = (name: string) => commit.flush().then(() => ended.push(name));

  const all = [flush('first')];
  commit.mark(1);
  all.push(flush('second'), flush('third'));
  await nextTurn();
  expect(held.length).toBe(1);

  held[0]?.resolve();
  await nextTurn();
  expect([held.length, ended]).toEqual([2, ['first']]);

  commit.mark(2);
  all.push(flush('fourth'));
  held[1]?.resolve();
  await nextTurn();
  expect([held.length, ended]).toEqual([3, ['first', 'second', 'third']]);

  held[2]?.resolve();
  await Promise.all(all);
  await commit.flush();
  expect(held.length).toBe(3);
});

test('a flush requested during one that covers everything shares that one', async () => {
  const { sync, held } = heldSync();
  const commit = createGroupCommit(sync);
  const first = commit.flush();
  const second = commit.flush();
  held[0]?.resolve();
  await Promise.all([first, second, commit.flush()]);
  expect(held.length).toBe(1);
});

test('a flush of positions already flushed or being flushed starts no new one', async () => {
  const { sync, held } = heldSync();
  const commit = createGroupCommit(sync);
  commit.mark(1);
  const first = commit.flush();
  commit.mark(2);
  const covered = commit.flush(1);
  held[0]?.resolve();
  await Promise.all([first, covered]);
  commit.mark(3);
  await commit.flush(1);
  expect(held.length).toBe(1);
  const second = commit.flush(2);
  held[1]?.resolve();
  await Promise.all([second, commit.flush(3)]);
  expect(held.length).toBe(2);
});

test('after a failed flush all later ones fail', async () => {
  const { sync, held } = heldSync();
  const commit = createGroupCommit(sync);
  const first = commit.flush();
  commit.mark(1);
  const second = commit.flush();
  held[0]?.reject(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  await expect(second).rejects.toThrow('lost');
  commit.mark(2);
  await expect(commit.flush()).rejects.toThrow('lost');
  expect(held.length).toBe(1);
});

/** A run whose flushes are recorded: `journal` for its content, else the path. */
function recordedRun(failing: Partial<JournalCalls> = {}) {
  const synced: string[] = [];
  const calls: JournalCalls = {
    ...journalCalls,
    syncData: (fd) => {
      synced.push('journal');
      return journalCalls.syncData(fd);
    },
    syncDataNow: (fd) => {
      synced.push('journal');
      journalCalls.syncDataNow(fd);
    },
    syncPath: (path) => {
      synced.push(path);
      return journalCalls.syncPath(path);
    },
    ...failing,
  };
  const { store, runsDir } = fileStore({ calls });
  const recorded = store.create(snapshot('r1'), { logDir: null });
  return { run: recorded, store, runsDir, synced };
}

test('the first flush writes the directories and files, later ones only the journal', async () => {
  const { run, store, runsDir, synced } = recordedRun();
  expect(synced).toEqual([]);
  await run.flush();
  const directory = join(runsDir, 'r1');
  const files = ['snapshot.json', 'sources.json'].map((name) => join(directory, name));
  const aboveRuns = [join(runsDir, '..'), join(runsDir, '..', '..')];
  expect([...synced].sort()).toEqual(['journal', ...files, directory, runsDir, ...aboveRuns].sort());

  synced.length = 0;
  await run.flush();
  expect(synced).toEqual([]);

  run.append(events(1));
  run.append(events(1, 2));
  await Promise.all([run.flush(), run.flush()]);
  expect(synced).toEqual(['journal']);

  run.append(events(1, 3));
  await run.close();
  expect(synced).toEqual(['journal', 'journal']);

  synced.length = 0;
  await store.create(snapshot('r2'), { logDir: null }).close();
  expect([...synced].sort()).toEqual(
    ['journal', ...files.map((file) => file.replace('r1', 'r2')), join(runsDir, 'r2'), runsDir].sort(),
  );
});

test('a fast disk is flushed in the main thread, a slow one in another', async () => {
  const flushes: string[] = [];
  let isSlow = true;
  let now = 0n;
  const flushed = (where: string) => {
    flushes.push(where);
    if (isSlow) now += 2_000_000n;
  };
  const { run } = recordedRun({
    syncData: async () => flushed('pool'),
    syncDataNow: () => flushed('here'),
    now: () => now,
  });
  const flush = async () => {
    run.append(events(1, flushes.length + 1));
    await run.flush();
  };
  await flush();
  await flush();
  isSlow = false;
  await flush();
  await flush();
  isSlow = true;
  await flush();
  await flush();
  expect(flushes).toEqual(['pool', 'pool', 'pool', 'here', 'here', 'pool']);
  await run.close();
});

test('a failed flush is reported with path and reason, and the run is still released', async () => {
  const failure = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  const { run, store, runsDir } = recordedRun({ syncData: () => Promise.reject(failure) });
  run.append(events(1));
  const told = {
    code: 'storage',
    message: `cannot flush "${join(runsDir, 'r1', 'journal.jsonl')}": the device reports an input/output error`,
  };
  await expect(run.flush()).rejects.toMatchObject(told);
  await expect(run.close()).rejects.toMatchObject(told);
  expect(store.read('r1')?.events.length).toBe(1);
  await expect(store.openForRecovery('r1').close()).rejects.toMatchObject({ code: 'storage' });
});

test('a run is not accepted if its directory cannot be flushed', async () => {
  const failure = Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
  const { run } = recordedRun({
    syncPath: (path) => (path.endsWith('r1') ? Promise.reject(failure) : journalCalls.syncPath(path)),
  });
  await expect(run.flush()).rejects.toMatchObject({
    code: 'storage',
    message: expect.stringContaining('no space left'),
  });
  await expect(run.close()).rejects.toMatchObject({ code: 'storage' });
});
