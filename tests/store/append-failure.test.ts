import { appendFileSync, ftruncateSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JournalCalls, journalCalls } from '#store/files/journal/journal-file.ts';
import { events, fileStore, refusal, snapshot, stored } from './world.ts';

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: failed`), { code });
}

/** A run with two events, with system calls that tests can replace. */
function runOn(calls: Partial<JournalCalls>) {
  const changeable = { ...journalCalls, ...calls };
  const { store, runsDir } = fileStore({ calls: changeable });
  const run = store.create(snapshot('r1'), { logDir: null });
  return { run, store, calls: changeable, path: join(runsDir, 'r1', 'journal.jsonl') };
}

test('a partial write is continued', async () => {
  const taken: number[] = [];
  const { run, store } = runOn({
    write: (fd, bytes, offset) => {
      taken.push(writeSync(fd, bytes, offset, Math.min(7, bytes.length - offset)));
      return taken.at(-1) ?? 0;
    },
  });
  expect(run.append(events(3))).toEqual(stored(events(3)));
  expect(store.read('r1')).toMatchObject({ events: stored(events(3)), damage: [] });
  expect(taken.length).toBeGreaterThan(30);
  await run.close();
});

test('a write of zero bytes fails and is not repeated endlessly', async () => {
  const { run, calls, path } = runOn({ write: () => 0 });
  expect(refusal(() => run.append(events(1)))).toEqual({
    code: 'storage',
    message: `cannot write "${path}": the system accepts no more bytes and gives no reason`,
  });
  calls.write = journalCalls.write;
  expect(run.append(events(1))).toEqual(stored(events(1)));
  await run.close();
});

test('a batch of events is one write', async () => {
  let writes = 0;
  const { run } = runOn({
    write: (fd, bytes, offset) => {
      writes++;
      return journalCalls.write(fd, bytes, offset);
    },
  });
  run.append(events(100));
  expect(writes).toBe(1);
  await run.close();
});

test.each([
  ['ENOSPC', 'no space left on the device'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EIO', 'the device reports an input/output error'],
  ['EFBIG', 'the file would grow beyond the size limit'],
  ['EROFS', 'the file system is read-only'],
])('%s in the middle of a batch writes none of it, and the next append succeeds', async (code, reason) => {
  const { run, store, calls, path } = runOn({});
  run.append(events(2));
  const before = readFileSync(path);

  let isFirst = true;
  calls.write = (fd, bytes) => {
    if (!isFirst) throw failure(code);
    isFirst = false;
    return writeSync(fd, bytes, 0, bytes.length - 10);
  };
  expect(refusal(() => run.append(events(3, 3)))).toEqual({
    code: 'storage',
    message: `cannot write "${path}": ${reason}`,
  });
  expect(readFileSync(path).equals(before)).toBe(true);

  calls.write = journalCalls.write;
  expect(run.append(events(1, 3))).toEqual(stored(events(1, 3), 3));
  expect(store.read('r1')).toMatchObject({ events: stored(events(3)), damage: [] });
  await run.close();
});

test('the rest of a failed write is removed before the next write', async () => {
  const { run, store, calls, path } = runOn({});
  run.append(events(2));
  calls.write = (fd, bytes) => {
    calls.write = () => {
      throw failure('EIO');
    };
    return writeSync(fd, bytes, 0, 10);
  };
  calls.truncate = () => {
    throw failure('EIO');
  };
  refusal(() => run.append(events(1, 3)));
  expect(store.read('r1')).toMatchObject({ events: stored(events(2)), damage: [] });

  calls.write = journalCalls.write;
  expect(refusal(() => run.append(events(1, 3))).message).toBe(
    `cannot write "${path}": the rest of a failed write cannot be cut off`,
  );

  calls.truncate = ftruncateSync;
  run.append(events(1, 3));
  expect(store.read('r1')).toMatchObject({ events: stored(events(3)), damage: [] });
  await run.close();
});

test('a journal that another process has written to is not written again', async () => {
  const { run, path } = runOn({});
  run.append(events(1));
  appendFileSync(path, 'x');
  expect(refusal(() => run.append(events(1, 2)))).toEqual({
    code: 'storage',
    message: `cannot write "${path}": another process has written to it`,
  });
  expect(readFileSync(path, 'utf8')).toMatch(/\nx$/);
  await run.close();
});

test('a removed run is not written, and can be closed', async () => {
  const { run, path } = runOn({});
  await run.flush();
  rmSync(join(path, '..'), { recursive: true });
  expect(refusal(() => run.append(events(1)))).toEqual({
    code: 'storage',
    message: `cannot write "${path}": it was removed, or another process has taken the run over`,
  });
  await run.close();
});
