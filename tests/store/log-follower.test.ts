import { appendFileSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FileFollower, type LogPaths } from '#store/files/logs/log-follower.ts';
import type { LogChunk, LogFollower, LogFollowerOptions } from '#store/logs.ts';
import { temporaryDirectory } from './world.ts';

const mebibyte = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A follower, what it has delivered, and the logs it can follow. */
function follower(options: Omit<LogFollowerOptions, 'deliver'> = {}) {
  const directory = temporaryDirectory();
  const told: string[] = [];
  const sizes: number[] = [];
  const buffers = new Set<ArrayBufferLike>();
  const deliver = ({ step, attempt, stream, bytes }: LogChunk) => {
    sizes.push(bytes.length);
    buffers.add(bytes.buffer);
    if (bytes.length < 100) told.push(`${step} ${attempt} ${stream}: ${Buffer.from(bytes).toString()}`);
  };
  const path: LogPaths['pathOf'] = (step, attempt, stream) => join(directory, `${step}.${attempt}.${stream}`);
  const take = <T>(list: T[]) => list.splice(0);
  const made: LogFollower = new FileFollower(
    { pathOf: path, streams: () => ['stdout', 'stderr'] },
    { deliver, ...options },
  );
  return { ...made, path, told: () => take(told), sizes: () => take(sizes), buffers };
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

test('output is delivered as it grows: the first after 10 ms, more every 100 ms', () => {
  const { follow, told, path } = follower();
  const [stdoutPath, stderrPath] = [path('load', 2, 'stdout'), path('load', 2, 'stderr')];
  follow('load', 2);
  writeFileSync(stdoutPath, 'one');
  vi.advanceTimersByTime(9);
  expect(told()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told()).toEqual(['load 2 stdout: one']);

  appendFileSync(stdoutPath, 'two');
  writeFileSync(stderrPath, 'three');
  vi.advanceTimersByTime(89);
  expect(told()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told()).toEqual(['load 2 stdout: two', 'load 2 stderr: three']);
  vi.advanceTimersByTime(1000);
  expect(told()).toEqual([]);
});

test('the end of an attempt delivers the remaining output at once, and nothing after it', () => {
  const { follow, finish, told, path } = follower();
  const [stdoutPath, stderrPath] = [path('load', 1, 'stdout'), path('load', 1, 'stderr')];
  follow('load', 1);
  writeFileSync(stdoutPath, 'out');
  writeFileSync(stderrPath, 'err');
  finish('load', 1);
  expect(told()).toEqual(['load 1 stdout: out', 'load 1 stderr: err']);

  appendFileSync(stdoutPath, 'late');
  finish('load', 1);
  vi.advanceTimersByTime(1000);
  expect(told()).toEqual([]);
});

test('attempts of a step and steps with similar names are distinguished', () => {
  const { follow, finish, told, path } = follower();
  const attempts = [
    ['1 load', 1],
    ['load', 1],
    ['load', 11],
  ] as const;
  for (const [step, attempt] of attempts) {
    writeFileSync(path(step, attempt, 'stdout'), 'x');
    follow(step, attempt);
  }
  for (const [step, attempt] of attempts) finish(step, attempt);
  expect(told()).toEqual(['1 load 1 stdout: x', 'load 1 stdout: x', 'load 11 stdout: x']);
});

test('a step that floods its log delivers 1 MiB per turn, with one small buffer', () => {
  const { follow, finish, told, sizes, buffers, path } = follower();
  writeFileSync(path('flood', 1, 'stdout'), Buffer.alloc(3 * mebibyte, 'x'));
  writeFileSync(path('flood', 1, 'stderr'), Buffer.alloc(mebibyte, 'x'));
  writeFileSync(path('quiet', 1, 'stdout'), 'hello');
  follow('flood', 1);
  follow('quiet', 1);

  vi.advanceTimersByTime(10);
  expect(told()).toEqual(['quiet 1 stdout: hello']);
  expect(sizes().reduce((sum, size) => sum + size)).toBe(mebibyte + 'hello'.length);
  vi.advanceTimersByTime(10);
  expect(sizes().reduce((sum, size) => sum + size)).toBe(mebibyte);

  expect(finish('flood', 1)).toBe(false);
  expect(finish('flood', 1)).toBe(true);
  const rest = sizes();
  expect(rest.reduce((sum, size) => sum + size)).toBe(2 * mebibyte);
  expect(Math.max(...rest)).toBe(64 * 1024);
  expect([...buffers].map(({ byteLength }) => byteLength)).toEqual([64 * 1024]);
});

test('both streams of a flooding step are read alternately', () => {
  const streams: string[] = [];
  const { path } = follower();
  const { follow, close } = new FileFollower(
    { pathOf: path, streams: () => ['stdout', 'stderr'] },
    { deliver: ({ stream }) => streams.push(stream) },
  );
  writeFileSync(path('flood', 1, 'stdout'), Buffer.alloc(2 * mebibyte));
  writeFileSync(path('flood', 1, 'stderr'), Buffer.alloc(2 * mebibyte));
  follow('flood', 1);
  vi.advanceTimersByTime(10);
  expect(streams).toEqual(Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? 'stdout' : 'stderr')));
  close();
});

test('a blocked reader gets nothing until it is unblocked, except at the end of an attempt', () => {
  let isBlocked = true;
  const { follow, finish, told, path } = follower({ isBlocked: () => isBlocked });
  writeFileSync(path('load', 1, 'stdout'), 'one');
  follow('load', 1);
  writeFileSync(path('other', 1, 'stdout'), 'other');
  follow('other', 1);
  vi.advanceTimersByTime(1000);
  expect(told()).toEqual([]);
  finish('other', 1);
  expect(told()).toEqual(['other 1 stdout: other']);
  isBlocked = false;
  vi.advanceTimersByTime(100);
  expect(told()).toEqual(['load 1 stdout: one']);
});

test('a log that its step truncates is read from its start again', () => {
  const { follow, finish, told, path } = follower();
  const stderrPath = path('load', 1, 'stderr');
  writeFileSync(stderrPath, 'a long line');
  follow('load', 1);
  vi.advanceTimersByTime(10);
  truncateSync(stderrPath);
  appendFileSync(stderrPath, 'new');
  finish('load', 1);
  expect(told()).toEqual(['load 1 stderr: a long line', 'load 1 stderr: new']);
});

test('an unreadable log is skipped, and read as soon as possible', () => {
  const { follow, finish, told, path } = follower();
  mkdirSync(path('load', 1, 'stderr'));
  follow('load', 1);
  vi.advanceTimersByTime(300);
  writeFileSync(path('load', 1, 'stdout'), 'there');
  vi.advanceTimersByTime(100);
  expect(told()).toEqual(['load 1 stdout: there']);
  finish('load', 1);
});

test('no file is open while nothing is followed, and soon no timer', () => {
  const { follow, finish, close, sizes, path } = follower();
  const before = openDescriptors();
  expect(vi.getTimerCount()).toBe(0);
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(path(name, 1, 'stdout'), 'x');
    follow(name, 1);
  }
  vi.advanceTimersByTime(10);
  expect([vi.getTimerCount(), openDescriptors()]).toEqual([1, before + 3]);
  finish('a', 1);
  finish('b', 1);
  finish('c', 1);
  expect(openDescriptors()).toBe(before);
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);

  writeFileSync(path('a', 2, 'stdout'), 'x');
  follow('a', 2);
  vi.advanceTimersByTime(10);
  sizes();
  appendFileSync(path('a', 2, 'stdout'), 'not delivered');
  close();
  expect([vi.getTimerCount(), openDescriptors(), sizes()]).toEqual([0, before, []]);
});

test('with a pace, a look waits for its turn and reads a limited number of bytes', async () => {
  const turns: (() => void)[] = [];
  const turn = () => new Promise<void>((resolve) => turns.push(resolve));
  const { follow, finish, close, sizes, path } = follower({ pace: { bytes: 10_000, turn } });
  for (const step of ['a', 'b']) {
    follow(step, 1);
    writeFileSync(path(step, 1, 'stdout'), 'x'.repeat(15_000));
  }
  const look = async () => {
    vi.advanceTimersByTime(10);
    expect(sizes()).toEqual([]);
    turns.shift()?.();
    await Promise.resolve();
    await Promise.resolve();
    return sizes();
  };
  expect(await look()).toEqual([10_000]);
  expect(await look()).toEqual([5000, 5000]);
  expect(finish('b', 1)).toBe(true);
  expect(sizes()).toEqual([10_000]);

  writeFileSync(path('a', 1, 'stdout'), 'y'.repeat(20_000));
  vi.advanceTimersByTime(100);
  close();
  for (const resolve of turns) resolve();
  await Promise.resolve();
  expect(sizes()).toEqual([]);
});
