import { closeSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { logFilePattern } from '#store/files/logs/run-logs.ts';
import { handler, step, workflow } from '../support/workflow.ts';
import { closeLog, fileStore, oneLog, refusal, snapshot, temporaryDirectory } from './world.ts';

test('each attempt has an append-only file of its own for both streams', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  for (const text of ['one\n', 'two\n']) {
    const { log } = run.logs.open('load', 1, oneLog);
    const path = run.logs.file('load', 1, 'output').path;
    expect([log.stdoutPath, log.stderrPath, run.logs.file('load', 1, 'stdout').path]).toEqual([path, path, path]);
    writeSync(log.stdoutFd, text);
    writeSync(log.stderrFd, text.toUpperCase());
    closeLog(log);
  }
  closeLog(run.logs.open('load', 2, oneLog).log);
  expect(await run.logs.streams('load', 1)).toEqual(['output']);
  expect(await run.logs.file('load', 1, 'stderr').size()).toBe(0);
  await run.close();

  const logs = join(runsDir, 'r1', 'logs');
  expect(readdirSync(logs).sort()).toEqual(['00002-load.1.out', '00002-load.2.out']);
  expect(readFileSync(join(logs, '00002-load.1.out'), 'utf8')).toBe('one\nONE\ntwo\nTWO\n');
});

test('each stream has a file of its own where that is asked for', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  const { log } = run.logs.open('load', 1, { isSeparate: true, kept: [] });
  writeSync(log.stdoutFd, 'one\n');
  writeSync(log.stderrFd, 'ONE\n');
  closeLog(log);
  expect(await run.logs.streams('load', 1)).toEqual(['stdout', 'stderr']);
  const logs = join(runsDir, 'r1', 'logs');
  expect(readFileSync(join(logs, '00002-load.1.out'), 'utf8')).toBe('one\n');
  expect(readFileSync(join(logs, '00002-load.1.err'), 'utf8')).toBe('ONE\n');
  await run.close();
});

test('a stream that is kept alone has a file beside the log', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  const { log, kept } = run.logs.open('load', 1, { isSeparate: false, kept: ['stderr'] });
  closeLog(log);
  closeSync(kept.stderr?.fd ?? -1);
  const logs = join(runsDir, 'r1', 'logs');
  expect(kept).toEqual({ stderr: { path: join(logs, '00002-load.1.stderr'), fd: expect.any(Number) } });
  expect([run.logs.pathOf('load', 1, 'stdout'), run.logs.pathOf('load', 1, 'stderr')]).toEqual([
    join(logs, '00002-load.1.out'),
    join(logs, '00002-load.1.stderr'),
  ]);
  expect(await run.logs.streams('load', 1)).toEqual(['output']);
  await run.close();
});

test('the times at which a log grows are noted, and nothing of an attempt that ends sooner', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  const begun = Date.now();
  const logs = [1, 2].map((attempt) => run.logs.open('load', attempt, oneLog).log);
  const [long, short] = logs.map((log) => ({ log, end: run.logs.watch(log, Date.now) }));
  const print = (text: string) => writeSync(long?.log.stdoutFd ?? -1, text);
  writeSync(short?.log.stdoutFd ?? -1, 'done\n');
  vi.advanceTimersByTime(100);
  short?.end();
  print('one\n');
  vi.advanceTimersByTime(1000);
  print('two\n');
  vi.advanceTimersByTime(100);
  long?.end();
  print('late\n');
  vi.advanceTimersByTime(1000);
  expect(vi.getTimerCount()).toBe(0);
  for (const log of logs) closeLog(log);
  await run.close();

  expect(await run.logs.times('load', 1, 'output')).toEqual([
    [4, begun + 250],
    [8, begun + 1200],
  ]);
  expect(await run.logs.times('load', 2, 'output')).toBeNull();
  const files = readdirSync(join(runsDir, 'r1/logs'));
  expect(files.sort()).toEqual(['00002-load.1.out', '00002-load.1.out.times', '00002-load.2.out']);
  expect(files.every(logFilePattern(snapshot('r1').workflow))).toBe(true);
});

test('times of a log that was emptied are those of what it has now, and a cut note does not count', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  closeLog(run.logs.open('load', 1, oneLog).log);
  writeFileSync(join(runsDir, 'r1/logs/00002-load.1.out.times'), '4 1000\n9 2000\n3 3000\n7 4000\n12 50');
  expect(await run.logs.times('load', 1, 'stdout')).toEqual([
    [3, 3000],
    [7, 4000],
  ]);
  await run.close();
});

test('the names of steps become unique file names', () => {
  const { store } = fileStore();
  const names = ['a b', 'a/b', '../../etc', 'ünï', '步骤', '.x', `long ${'x'.repeat(300)}`];
  const steps = names.map((name) => step(name));
  const handlers = { failure: handler('failure'), exit: handler('exit') };
  const run = store.create({ runId: 'r1', workflow: workflow({ steps, handlers }), sources: [] }, { logDir: null });
  const { directory, file } = run.logs;
  const stem = (name: string) => file(name, 1, 'stdout').path?.slice(directory.length + 1);
  expect([...names, 'handlerOn.failure', 'handlerOn.exit'].map(stem)).toEqual([
    '00001-a-b.1.out',
    '00002-a-b.1.out',
    '00003-etc.1.out',
    '00004-n.1.out',
    '00005-step.1.out',
    '00006-x.1.out',
    `00007-long-${'x'.repeat(55)}.1.out`,
    '00009-handlerOn.failure.1.out',
    '00011-handlerOn.exit.1.out',
  ]);
  expect(() => file('no such step', 1, 'stdout')).toThrow('there is no step "no such step"');
  return run.close();
});

test('an external log directory contains the logs, and readers find them there', async () => {
  const logDir = join(temporaryDirectory(), 'var', 'log');
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir });
  const { log } = run.logs.open('load', 1, oneLog);
  writeSync(log.stdoutFd, 'out');
  closeLog(log);
  await run.close();

  const path = join(logDir, 'nightly-etl', 'r1', '00002-load.1.out');
  expect(readFileSync(path, 'utf8')).toBe('out');
  expect(fileStore({ runsDir }).store.read('r1')?.logs.file('load', 1, 'stdout').path).toBe(path);
  expect(existsSync(join(runsDir, 'r1', 'logs'))).toBe(false);
});

test('a log that cannot be opened is reported with the reason, and leaves no open file', async () => {
  const logDir = join(temporaryDirectory(), 'file');
  writeFileSync(logDir, '');
  const run = fileStore().store.create(snapshot('r1'), { logDir });
  const path = join(logDir, 'nightly-etl', 'r1', '00002-load.1.out');
  expect(refusal(() => run.logs.open('load', 1, oneLog))).toEqual({
    code: 'storage',
    message: `cannot open "${path}": a part of the path is not a directory`,
  });
  await run.close();
});

test('a removed log directory is created again', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  rmSync(join(runsDir, 'r1', 'logs'), { recursive: true });
  closeLog(run.logs.open('load', 1, oneLog).log);
  expect(existsSync(run.logs.file('load', 1, 'output').path ?? '')).toBe(true);
  await run.close();
});
