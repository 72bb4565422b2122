import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JournalCalls, journalCalls } from '#store/files/journal/journal-file.ts';
import { createGroupCommit } from '#store/files/journal/run-journal.ts';
import { events, fileStore, snapshot } from './world.ts';

/** Flushes that tests complete. */
function heldSync() {
  const held: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const sync = (mayQueue: boolean) => ({
    done: new Promise<void>((resolve, reject) => held.push({ resolve, reject })),
    queued: mayQueue ? 'journal' : null,
  });
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

test('only the flush that covers the entries is said to be queued', async () => {
  const { sync, held } = heldSync();
  const commit = createGroupCommit(sync);
  commit.mark(1);
  const first = commit.queue(1);
  commit.mark(2);
  const [shared, second] = [commit.queue(1), commit.queue(2)];
  expect([first.queued, shared.queued, second.queued]).toEqual(['journal', 'journal', null]);
  held[0]?.resolve();
  await Promise.all([first.done, shared.done]);
  held[1]?.resolve();
  await second.done;
  expect([commit.queue(2).queued, held.length]).toEqual([null, 2]);
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

/** A run after its first flush, and the later flushes of its journal: where, or the path of a queued one. */
async function queuingRun(queueSync: JournalCalls['queueSync'], calls: Partial<JournalCalls> = {}) {
  const flushes: string[] = [];
  const { run, runsDir } = recordedRun({
    now: () => 0n,
    syncData: async () => void flushes.push('pool'),
    syncDataNow: () => void flushes.push('here'),
    queueSync: (path) => {
      flushes.push(path);
      return queueSync(path);
    },
    ...calls,
  });
  const path = join(runsDir, 'r1', 'journal.jsonl');
  await run.flush();
  flushes.length = 0;
  const queue = (seq: number) => {
    run.append(events(1, seq));
    return run.queueFlush(seq);
  };
  return { run, path, flushes, queue };
}

test('a starter flushes the journal of a fast disk, until that takes long', async () => {
  let duration = 1000;
  const { run, path, flushes, queue } = await queuingRun(async () => duration);
  const first = queue(1);
  await first.done;
  duration = 2_000_000;
  await queue(2).done;
  const third = queue(3);
  await third.done;
  expect([first.queued, third.queued, flushes]).toEqual([path, null, [path, path, 'pool']]);
  await run.close();
});

test('a journal that the starter could not flush is flushed here, and so is one without a starter', async () => {
  for (const result of [Promise.resolve(null), null]) {
    const { run, path, flushes, queue } = await queuingRun(() => result);
    await queue(1).done;
    expect(flushes).toEqual([path, 'here']);
    await run.close();
  }
});

test('a failure that the starter found is reported', async () => {
  const failure = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  let isBroken = false;
  const { run, queue } = await queuingRun(() => Promise.resolve(null), {
    syncDataNow: () => {
      if (isBroken) throw failure;
    },
  });
  isBroken = true;
  await expect(queue(1).done).rejects.toMatchObject({ code: 'storage', message: expect.stringContaining('flush') });
  await expect(run.close()).rejects.toMatchObject({ code: 'storage' });
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
