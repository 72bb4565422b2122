import { closeSync, mkdirSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogFile } from '#store/files/logs/run-logs.ts';
import { findTail, readExcerpt, readTail } from '#store/log-ends.ts';
import type { LogFile, RunLogs } from '#store/logs.ts';
import { temporaryDirectory } from './world.ts';

const mebibyte = 1024 * 1024;

/** A log with this content; null for none. */
function logWith(content: string | null): LogFile {
  const path = join(temporaryDirectory(), 'log');
  if (content !== null) writeFileSync(path, content);
  return createLogFile(path);
}

/** The same log, and the number of bytes read from it. */
function counted(file: LogFile): { readonly file: LogFile; readonly read: () => number } {
  let count = 0;
  const read: LogFile['read'] = async function* (from, to) {
    for await (const bytes of file.read(from, to)) {
      count += bytes.length;
      yield bytes;
    }
  };
  return { file: { ...file, read }, read: () => count };
}

function tail(stdout: string | null, stderr: string | null, lines = 3): Promise<readonly string[]> {
  const [out, err] = [logWith(stdout), logWith(stderr)];
  const streams: RunLogs['streams'] = async () => (stderr === null ? ['output'] : ['stdout', 'stderr']);
  const logs: RunLogs = {
    file: (_step, _attempt, stream) => (stream === 'stderr' ? err : out),
    streams,
    times: async () => null,
  };
  return readTail(logs, { step: 'a', attempt: 1 }, lines);
}

test.each([
  ['the last lines of standard output alone', 'a\nb\nc\nd\n', '', ['b', 'c', 'd']],
  ['an unfinished last line', 'a\nb', null, ['a', 'b']],
  ['standard error after what fits of standard output', 'a\nb\nc\n', 'x\ny\n', ['c', 'x', 'y']],
  ['standard error alone where there is enough', 'a\n', 'w\nx\ny\nz\n', ['x', 'y', 'z']],
  ['empty lines inside, and Windows line ends', 'a\r\n\r\nb\r\n', null, ['a', '', 'b']],
  ['nothing where there is nothing', '', null, []],
])('the tail is %s', async (_, stdout, stderr, expected) => {
  expect(await tail(stdout, stderr)).toEqual(expected);
});

test('the tail of a large log is read from its end only', async () => {
  expect(await tail(`${'x'.repeat(200_000)}\nlast\n`, null, 1)).toEqual(['last']);
  expect(await tail('x'.repeat(200_000), null, 1)).toEqual(['x'.repeat(64 * 1024)]);
});

test.each([
  ['a\nb\nc\n', 2, { offset: 2, found: 2 }],
  ['a\nb\nc', 2, { offset: 2, found: 2 }],
  ['a\nb\nc\n', 3, { offset: 0, found: 3 }],
  ['a\nb\n', 9, { offset: 0, found: 2 }],
  ['\n\n\n', 2, { offset: 1, found: 2 }],
  ['a\nb\n', 0, { offset: 4, found: 0 }],
  ['', 3, { offset: 0, found: 0 }],
  [null, 3, { offset: 0, found: 0 }],
])('the last lines of %j, %i of them, start at %j', async (content, lines, expected) => {
  expect(await findTail(logWith(content), lines)).toEqual(expected);
});

test.each([
  ['a\nb\nc\n', 2, { offset: 2, found: 2 }],
  ['a\nb\nhalf', 1, { offset: 2, found: 1 }],
  ['a\nb\nhalf', 0, { offset: 4, found: 0 }],
  ['a\nb\nhalf', 9, { offset: 0, found: 2 }],
  ['half', 1, { offset: 0, found: 0 }],
])('the last complete lines of %j, %i of them, start at %j', async (content, lines, expected) => {
  expect(await findTail(logWith(content), lines, { onlyWhole: true })).toEqual(expected);
});

test('last lines are searched from the end, in few reads, and not in the whole log', async () => {
  const long = `${'x'.repeat(3 * mebibyte)}\nb\n`;
  const found = counted(logWith(`first\n${long}`));
  expect(await findTail(found.file, 1)).toEqual({ offset: 6 + 3 * mebibyte + 1, found: 1 });
  expect(found.read()).toBe(64 * 1024);
  expect(await findTail(found.file, 2)).toEqual({ offset: 6, found: 2 });

  const endless = counted(logWith('x'.repeat(9 * mebibyte)));
  expect(await findTail(endless.file, 5)).toEqual({ offset: 5 * mebibyte, found: 1 });
  expect(endless.read()).toBe(4 * mebibyte - 1);
});

async function excerpt(file: LogFile, head: number, tailBytes: number) {
  const found = await readExcerpt(file, { head, tail: tailBytes });
  return [found.size, Buffer.from(found.head).toString(), Buffer.from(found.tail).toString()];
}

test('an excerpt contains a small log completely and both ends of a larger one', async () => {
  const log = logWith('0123456789');
  expect(await excerpt(log, 4, 6)).toEqual([10, '0123456789', '']);
  expect(await excerpt(log, 4, 5)).toEqual([10, '0123', '56789']);
  expect(await excerpt(log, 0, 3)).toEqual([10, '', '789']);
  expect(await excerpt(log, 0, 0)).toEqual([10, '', '']);
  expect(await excerpt(logWith(null), 4, 4)).toEqual([0, '', '']);
});

test('an excerpt of five gigabytes reads only both ends', async () => {
  const path = join(temporaryDirectory(), 'log');
  writeFileSync(path, 'first line\n');
  const size = 5 * 1024 ** 3;
  truncateSync(path, size);
  const fd = openSync(path, 'r+');
  writeSync(fd, 'last line\n', size - 10);
  closeSync(fd);

  const log = counted(createLogFile(path));
  expect(await excerpt(log.file, 11, 10)).toEqual([size, 'first line\n', 'last line\n']);
  expect(log.read()).toBe(21);
});

test('a log that its step replaced by a directory is empty', async () => {
  const path = join(temporaryDirectory(), 'log');
  mkdirSync(path);
  expect(await excerpt(createLogFile(path), 4, 4)).toEqual([0, '', '']);
  expect(await tail(null, null)).toEqual([]);
});

test('an unreadable log has no excerpt, but other readers fail', async () => {
  const path = join(temporaryDirectory(), 'log');
  writeFileSync(path, 'text');
  const failing = { ...createLogFile(path), read: createLogFile(`${path}${'x'.repeat(300)}`).read };
  expect(await excerpt(failing, 4, 4)).toEqual([4, '', '']);
  await expect(findTail(failing, 1)).rejects.toMatchObject({
    code: 'storage',
    message: expect.stringContaining('the path is too long'),
  });
});
