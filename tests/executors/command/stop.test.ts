import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { executor } from '#executors/command/command.ts';
import { failed, fileText, killed, program, runs, succeeded, testAttempt, until } from '../attempt.ts';

/** Starts a command and waits until it has created the file `ready`. */
async function startReady(command: string, settings: Parameters<typeof testAttempt>[0] = {}) {
  const world = testAttempt({ ...settings, step: { command, ...settings.step } });
  const running = executor.run({}, world.attempt);
  await until(() => existsSync(join(world.dir, 'ready')));
  return { ...world, running };
}

test('a stop reaches the whole group of a step and no other process', async () => {
  const other = testAttempt({ step: { command: 'sleep 300' } });
  const otherRuns = executor.run({}, other.attempt);
  const { stop, running, processes } = await startReady('sleep 300 & touch ready; sleep 300');
  stop();
  expect(await running).toEqual(killed('SIGTERM'));
  expect({ left: processes(), other: runs(other.started[0]?.pid ?? 0) }).toEqual({ left: [], other: true });
  other.kill();
  expect(await otherRuns).toEqual(killed('SIGKILL'));
});

test('a stop sends the signal that the step asks for, and waits for the program to end by itself', async () => {
  const { stop, running, stdout } = await startReady(`${program('graceful.sh')} USR1 ready`, {
    step: { signalOnStop: 'SIGUSR1' },
  });
  stop();
  expect(await running).toEqual(succeeded);
  expect(stdout()).toBe('got USR1\n');
});

test('a program that ignores the stop is killed with everything it has started', async () => {
  const { stop, kill, running, processes } = await startReady(`${program('ignore-term.sh')} ready & wait; wait`);
  stop();
  kill();
  expect(await running).toEqual(killed('SIGTERM'));
  expect(processes()).toEqual([]);
});

test('a leader that ignores the stop is killed', async () => {
  const { stop, kill, running, processes } = await startReady(`${program('ignore-term.sh')} ready`);
  stop();
  kill();
  expect(await running).toEqual(killed('SIGKILL'));
  expect(processes()).toEqual([]);
});

test('a stopped step ends only after the last process of its group', async () => {
  const world = await startReady(`${program('graceful.sh')} TERM ready & sleep 300`);
  world.stop();
  expect(await world.running).toEqual(killed('SIGTERM'));
  expect({ stdout: world.stdout(), left: world.processes() }).toEqual({ stdout: 'got TERM\n', left: [] });
});

test('a stop ends a daemon in a session of its own after its starter has ended', async () => {
  const world = testAttempt({ step: { command: `${program('daemon.sh')} pid wait` } });
  const running = executor.run({}, world.attempt);
  const daemon = Number(await fileText(join(world.dir, 'pid')));
  world.stop();
  expect(await running).toEqual(killed('SIGTERM'));
  expect(runs(daemon)).toBe(false);
});

test('a daemon that has lost both its parent and its session is found by its environment', async () => {
  const command = `sh -c '${program('daemon.sh')} pid'; touch ready; sleep 300`;
  const { stop, running, dir } = await startReady(command);
  const daemon = Number(await fileText(join(dir, 'pid')));
  stop();
  expect(await running).toEqual(killed('SIGTERM'));
  expect(runs(daemon)).toBe(false);
});

test('a descendant with neither the session nor the environment of the step is ended with it', async () => {
  const command = `env -i PATH="$PATH" ${program('daemon.sh')} pid wait & touch ready; wait`;
  const { stop, running, dir } = await startReady(command);
  const daemon = Number(await fileText(join(dir, 'pid')));
  stop();
  expect(await running).toEqual(killed('SIGTERM'));
  expect(runs(daemon)).toBe(false);
});

test('a daemon of an earlier step of the run outlives the stop of a later one', async () => {
  const earlier = testAttempt({ name: 'server', step: { command: `${program('daemon.sh')} pid` } });
  expect(await executor.run({}, earlier.attempt)).toEqual(succeeded);
  const daemon = Number(await fileText(join(earlier.dir, 'pid')));
  const later = await startReady('touch ready; sleep 300', { name: 'client', runId: earlier.attempt.runId });
  later.stop();
  expect(await later.running).toEqual(killed('SIGTERM'));
  expect(runs(daemon)).toBe(true);
});

test('a kill ends a whole process tree', async () => {
  const { attempt, kill, stdout, processes } = testAttempt({ step: { command: `${program('fork-tree.sh')} 4` } });
  const running = executor.run({}, attempt);
  await until(() => stdout().trim().split('\n').length === 31);
  expect(processes()).toHaveLength(31);
  kill();
  expect(await running).toEqual(killed('SIGKILL'));
  expect(processes()).toEqual([]);
});

test('without a stop, processes left behind by a step are not touched', async () => {
  const { attempt, processes } = testAttempt({ step: { command: 'sleep 300 & sleep 300 & exit 3' } });
  expect(await executor.run({}, attempt)).toEqual(failed('exit', 'exit 3', 3));
  expect(processes()).toHaveLength(2);
});

test('a process that may not be signalled does not block the step forever', async () => {
  const { attempt, kill, started } = testAttempt({ step: { command: 'sleep 300' } });
  const running = executor.run({}, attempt);
  // A starter reports the process later than a child of this process.
  await until(() => started.length === 1);
  const denied = Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  const signalled = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw denied;
  });
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    kill();
    vi.runAllTimers();
    const message = `process ${started[0]?.pid} could not be ended: it belongs to another user or hangs in the kernel`;
    expect(await running).toEqual(failed('error', message));
  } finally {
    vi.useRealTimers();
    signalled.mockRestore();
  }
});

test('a stop ends a program that is itself suspended', async () => {
  const { attempt, stop, started } = testAttempt({ step: { command: 'sleep 300' } });
  const running = executor.run({}, attempt);
  await until(() => started.length === 1);
  // Never 0, which would mean this process and its group.
  process.kill(started[0]?.pid ?? Number.NaN, 'SIGSTOP');
  stop();
  expect(await running).toEqual(killed('SIGTERM'));
});
