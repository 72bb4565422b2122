import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { GuardReports, guardWorker, noteSpared } from '#engine/temporal/worker/guard.ts';
import { enterDirectory } from '#engine/temporal/worker/worker-directory.ts';
import { endProcesses, findRunProcesses, identify, isAlive, mayBeAlive, thisProcess } from '#processes/processes.ts';

const processes = { moment: () => null, find: findRunProcesses, end: endProcesses };

/** A program with the mark of a run, which ends with the test. */
async function program(runId: string, logs: string, step = 'a') {
  const env = { PATH: process.env['PATH'] ?? '', WF_RUN_ID: runId, WF_STEP: step, WF_LOG_FILE: join(logs, '1.out') };
  const child = spawn('sleep', ['67'], { env, detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const identity = identify(child.pid ?? 0);
  if (identity === null) throw new Error('the program has ended');
  return { ...identity, step };
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('a guard ends the programs of a worker that is gone', async () => {
  const logs = temporary();
  const leader = await program('run-1', logs);
  const [toGuard, toWorker] = [new PassThrough(), new PassThrough()];
  const guarding = guardWorker(toGuard, toWorker, processes);
  const reports = new GuardReports(() => ({ stdin: toGuard, stdout: toWorker }));
  reports.enter({ runId: 'run-1', logs });
  reports.add('run-1', leader);
  expect(await reports.ask()).toBe(0);
  expect(isAlive(leader)).toBe(true);

  reports.close();
  await guarding;
  expect(isAlive(leader)).toBe(false);
});

it('a guard, and the next worker, leave the programs of a step alone that has ended and keeps them', async () => {
  const shared = temporary();
  const tools = { own: thisProcess(), isAlive: () => false, processes };
  const first = await enterDirectory(shared, 'one', tools);
  const logs = join(first.directoryOf('run-5'), 'logs');
  mkdirSync(logs, { recursive: true });
  const [kept, other] = [await program('run-5', logs, 'kept'), await program('run-5', logs, 'other')];
  noteSpared({ logs }, new Set(['kept']));
  const [toGuard, toWorker] = [new PassThrough(), new PassThrough()];
  const guarding = guardWorker(toGuard, toWorker, processes);
  const reports = new GuardReports(() => ({ stdin: toGuard, stdout: toWorker }));
  reports.enter({ runId: 'run-5', logs });
  reports.add('run-5', kept);
  reports.add('run-5', other);
  reports.close();
  await guarding;
  expect([isAlive(kept), isAlive(other)]).toEqual([true, false]);

  const second = await enterDirectory(shared, 'two', tools);
  expect([second.ended, isAlive(kept)]).toEqual([0, true]);
});

it('a guard leaves a run alone that the worker has left', async () => {
  const logs = temporary();
  const leader = await program('run-2', logs);
  const [toGuard, toWorker] = [new PassThrough(), new PassThrough()];
  const guarding = guardWorker(toGuard, toWorker, processes);
  const reports = new GuardReports(() => ({ stdin: toGuard, stdout: toWorker }));
  reports.enter({ runId: 'run-2', logs });
  reports.leave('run-2');
  expect(await reports.ask()).toBe(0);

  reports.close();
  await guarding;
  expect(isAlive(leader)).toBe(true);
});

it('a guard that died is replaced, and knows the runs; it may have killed', async () => {
  const logs = temporary();
  const leader = await program('run-4', logs);
  const guards: { readonly stdout: PassThrough; readonly ended: Promise<void> }[] = [];
  const reports = new GuardReports(() => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    guards.push({ stdout, ended: guardWorker(stdin, stdout, processes) });
    return { stdin, stdout };
  });
  reports.enter({ runId: 'run-4', logs });
  expect(await reports.ask()).toBe(0);
  guards[0]?.stdout.end();
  await expect.poll(() => guards.length).toBe(2);
  expect(await reports.ask()).toBe(1);
  expect(isAlive(leader)).toBe(true);

  reports.close();
  await guards[1]?.ended;
  expect(isAlive(leader)).toBe(false);
});

it('a worker ends what a dead one left behind in its directory', async () => {
  const shared = temporary();
  const own = thisProcess();
  const tools = { own, isAlive: () => false, processes };
  const first = await enterDirectory(shared, 'one', tools);
  const logs = join(first.directoryOf('run-3'), 'logs');
  mkdirSync(logs, { recursive: true });
  const leader = await program('run-3', logs);

  const second = await enterDirectory(shared, 'two', tools);
  expect([second.ended, isAlive(leader)]).toEqual([1, false]);
});

it('two workers of one name cannot share a directory', async () => {
  const shared = temporary();
  const tools = { own: thisProcess(), isAlive: mayBeAlive, processes };
  const first = await enterDirectory(shared, 'one', tools);

  await expect(enterDirectory(shared, 'one', tools)).rejects.toMatchObject({
    code: 'conflict',
    message: `the worker "one" runs already, as process ${process.pid}`,
  });
  first.leave();
  await enterDirectory(shared, 'one', tools);
});
