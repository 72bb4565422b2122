import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { RunEvent, StoredEvent } from '#core/run/run.ts';
import type { FileStore } from '#store/files/file-store.ts';
import { journalCalls } from '#store/files/journal/journal-file.ts';
import { JournalFollower } from '#store/files/journal/journal-follower.ts';
import fc from '../support/fast-check.ts';
import { events, fileStore, snapshot, stored, temporaryDirectory } from './world.ts';

const end: RunEvent = { type: 'run.finished', at: 9, status: 'succeeded', reason: null, message: '' };

/** The events returned for a run so far; `until` resolves after that number of events. */
function follow(store: FileStore, afterSeq = 0) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const told: StoredEvent[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const ended = (async () => {
    for await (const event of store.followEvents('r1', afterSeq, stop.signal)) {
      told.push(event);
      for (const { count, resolve } of waiting) if (told.length >= count) resolve();
    }
  })();
  const until = (count: number) =>
    new Promise<void>((resolve) => (told.length >= count ? resolve() : waiting.push({ count, resolve })));
  return { told, ended, until, stop };
}

function newRun() {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  return { store, runsDir, run, path: join(runsDir, 'r1/journal.jsonl') };
}

test('existing and new events are returned once each, up to the end of the run', async () => {
  const { store, run } = newRun();
  run.append(events(3));
  const { told, ended, until } = follow(store);
  await until(3);
  run.append(events(2, 4));
  await until(5);
  run.append([end, { type: 'run.warned', at: 10, step: null, message: 'too late' }]);
  await ended;
  expect(told).toEqual(stored([...events(5), end]));
  await run.close();
});

test('events up to the given number are omitted, and a run that ended there returns none', async () => {
  const { store, run } = newRun();
  run.append([...events(3), end]);
  const [some, none] = [follow(store, 2), follow(store, 4)];
  await Promise.all([some.ended, none.ended]);
  expect(some.told).toEqual(stored([...events(3).slice(2), end], 3));
  expect(none.told).toEqual([]);
  await run.close();
});

test('following ends when it is stopped, after the events so far', async () => {
  const { store, run } = newRun();
  const { told, ended, until, stop } = follow(store);
  run.append(events(1));
  await until(1);
  run.append(events(1, 2));
  stop.abort();
  await ended;
  expect(told).toEqual(stored(events(2)));
  await run.close();
});

test('following ends when the run is removed, and at once if there is none', async () => {
  const { store, runsDir, run } = newRun();
  run.append(events(2));
  const { told, ended, until } = follow(store);
  await until(2);
  await run.close();
  renameSync(join(runsDir, 'r1'), join(runsDir, 'gone'));
  await ended;
  expect(told).toEqual(stored(events(2)));
  await follow(store).ended;
});

test('a torn line is returned after it is complete', async () => {
  const { store, run, path } = newRun();
  run.append(events(2));
  await run.close();
  const whole = readFileSync(path);
  truncateSync(path, whole.length - 20);
  const { told, until, ended, stop } = follow(store);
  await until(1);
  appendFileSync(path, whole.subarray(whole.length - 20, whole.length - 7));
  appendFileSync(path, whole.subarray(whole.length - 7));
  await until(2);
  stop.abort();
  await ended;
  expect(told).toEqual(stored(events(2)));
});

test('a run that is taken over continues after the returned events', async () => {
  const { store, run, path } = newRun();
  run.append(events(3));
  await run.close();
  appendFileSync(path, '{"crc":"torn');
  const { told, ended, until } = follow(store);
  await until(3);
  const recovered = store.openForRecovery('r1');
  recovered.append([end]);
  await ended;
  await recovered.close();
  expect(told).toEqual(stored([...events(3), end]));
});

test('events that replace damaged ones after a recovery are returned, too', async () => {
  const { store, run, path } = newRun();
  run.append(events(5));
  await run.close();
  const { told, ended, until } = follow(store);
  await until(5);
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('\n') + 30] = 0;
  writeFileSync(path, bytes);
  const recovered = store.openForRecovery('r1');
  recovered.append([end]);
  await ended;
  await recovered.close();
  expect(told).toEqual([...stored(events(5)), ...stored([end], 2)]);
});

test('a batch written in parts is returned as finally written', async () => {
  let isFull = false;
  const { store, runsDir } = fileStore({
    calls: {
      ...journalCalls,
      write: (fd, bytes, offset) => {
        if (!isFull) return journalCalls.write(fd, bytes, offset);
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      },
    },
  });
  const run = store.create(snapshot('r1'), { logDir: null });
  run.append(events(2));
  const follower = new JournalFollower(join(runsDir, 'r1/journal.jsonl'));
  expect(follower.read()).toEqual(stored(events(2)));
  isFull = true;
  expect(() => run.append(events(3, 3))).toThrow('no space left');
  expect(follower.read()).toEqual([]);
  isFull = false;
  run.append(events(1, 9));
  expect(follower.read()).toEqual(stored(events(1, 9), 3));
  follower.close();
  await run.close();
});

test('a journal that is extended, cut and replaced in any order is returned in its final state', () => {
  const path = join(temporaryDirectory(), 'journal.jsonl');
  const line = (seq: number, step: string) => {
    const { store, runsDir } = fileStore();
    const run = store.create(snapshot('r1'), { logDir: null });
    run.append([...events(seq - 1), { type: 'step.ready', at: seq, step }]);
    return readFileSync(join(runsDir, 'r1/journal.jsonl'), 'utf8').trimEnd().split('\n').at(-1) ?? '';
  };
  const lines = [1, 2, 3, 4, 5, 6].map((seq) => ({ a: line(seq, 'a'), b: line(seq, 'b') }));
  const content = fc.record({
    steps: fc.array(fc.constantFrom('a' as const, 'b' as const), { maxLength: 6 }),
    torn: fc.nat({ max: 80 }),
    anew: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 6 }), (contents) => {
      rmSync(path, { force: true });
      const follower = new JournalFollower(path);
      let known: StoredEvent[] = [];
      let before: readonly string[] = [];
      for (const { steps, torn, anew } of contents) {
        const text = steps.map((step, index) => `${lines[index]?.[step]}\n`).join('');
        const common = Math.min(steps.length, before.length);
        const isSameStart = steps.slice(0, common).join() === before.slice(0, common).join();
        if (anew || !isSameStart) rmSync(path, { force: true });
        before = steps;
        writeFileSync(path, text + (lines[steps.length]?.a ?? '').slice(0, torn));
        for (const event of follower.read()) known = [...known.slice(0, event.seq - 1), event];
        const told = known.slice(0, steps.length).map((event) => 'step' in event && event.step);
        expect(told).toEqual(steps);
      }
      follower.close();
    }),
    { numRuns: 300 },
  );
});

test('a missing journal, or a directory at its path, returns no events', () => {
  const directory = temporaryDirectory();
  const follower = new JournalFollower(join(directory, 'journal.jsonl'));
  expect(follower.read()).toEqual([]);
  mkdirSync(join(directory, 'journal.jsonl'));
  expect(follower.read()).toEqual([]);
  follower.close();
});

test('new runs are noticed, also in a directory that does not exist yet', async () => {
  const { store } = fileStore();
  const stop = new AbortController();
  const changes = store.changes(stop.signal)[Symbol.asyncIterator]();
  await changes.next();
  for (const id of ['one', 'two']) {
    const next = changes.next();
    await store.create(snapshot(id), { logDir: null }).close();
    await next;
    while (!store.list().includes(id)) await changes.next();
  }
  const last = changes.next();
  stop.abort();
  expect((await last).done).toBe(true);
});

test('a run that a coarse file time does not show is noticed', async () => {
  const { store, runsDir } = fileStore();
  const stop = new AbortController();
  const now = Date.now();
  // Between the two changes no time passes, however busy the machine is.
  vi.spyOn(Date, 'now').mockReturnValue(now);
  const time = now / 1000;
  await store.create(snapshot('one'), { logDir: null }).close();
  utimesSync(runsDir, time, time);
  const changes = store.changes(stop.signal)[Symbol.asyncIterator]();
  await changes.next();
  mkdirSync(join(runsDir, 'two'));
  utimesSync(runsDir, time, time);
  expect((await changes.next()).done).toBe(false);
  stop.abort();
  expect((await changes.next()).done).toBe(true);
});
