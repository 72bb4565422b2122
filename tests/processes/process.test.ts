import { readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { executor } from '#executors/command/command.ts';
import { canceled } from '#processes/end-signal.ts';
import { identify } from '#processes/process-identity.ts';
import { failed, program, runStep, runs, succeeded, testAttempt, until } from '../executors/attempt.ts';

describe('a process', () => {
  test('has no input and no descriptors but its output', async () => {
    const { stdout, dir } = await runStep({ command: 'ls -l /proc/self/fd' });
    const all = [...stdout.matchAll(/ (\d+) -> (.*)$/gm)].map(([, fd = '', target = '']) => [fd, target] as const);
    const descriptors = all.filter(([fd, target]) => Number(fd) < 3 || !isInherited(fd, target));
    expect(descriptors).toEqual([
      ['0', '/dev/null'],
      ['1', join(dir, 'stdout.log')],
      ['2', join(dir, 'stderr.log')],
      // The directory that ls lists.
      [expect.any(String), expect.stringMatching(/^\/proc\/\d+\/fd$/)],
    ]);
  });

  test('leads a session of its own and keeps the mask for new files', async () => {
    const { stdout, started } = await runStep({ command: 'cut -d" " -f1,5,6 /proc/self/stat; umask' });
    const pid = started[0]?.pid;
    expect(stdout.split('\n')[0]?.split(' ').slice(1)).toEqual([String(pid), String(pid)]);
    expect(Number.parseInt(stdout.split('\n')[1] ?? '', 8)).toBe(process.umask());
  });

  test('gets the environment of the attempt and nothing else', async () => {
    const { stdout, attempt } = await runStep(
      { command: '/usr/bin/env -0' },
      { variables: { ODD: 'a\nb=$c`"\'\u00fc' } },
    );
    const entries = stdout
      .slice(0, -1)
      .split('\0')
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]);
    expect(Object.fromEntries(entries)).toEqual(attempt.env);
  });

  test('runs in the directory of the attempt, where its relative program is found too', async () => {
    const world = testAttempt({ step: { command: './here "$PWD"' } });
    writeFileSync(join(world.dir, 'here'), '#!/bin/sh\npwd\n', { mode: 0o755 });
    expect(await executor.run({}, world.attempt)).toEqual(succeeded);
    expect(world.stdout()).toBe(`${world.dir}\n`);
  });

  test('writes to the log while it runs, in order', async () => {
    const world = testAttempt({ step: { command: 'echo 1; while [ ! -e go ]; do sleep 0.01; done; echo 2' } });
    const running = executor.run({}, world.attempt);
    await until(() => world.stdout() === '1\n');
    writeFileSync(join(world.dir, 'go'), '');
    expect(await running).toEqual(succeeded);
    expect(world.stdout()).toBe('1\n2\n');
  });

  test('starts after the flush that it waits for, also without a starter', async () => {
    vi.stubEnv('WF_WITHOUT', 'starter');
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const world = testAttempt({ step: { command: 'echo 1' }, flush: { done, queued: '/nowhere' } });
    const running = executor.run({}, world.attempt);
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.started).toEqual([]);
    finish();
    expect(await running).toEqual(succeeded);
  });

  test('does not start if it was stopped during that flush', async () => {
    vi.stubEnv('WF_WITHOUT', 'starter');
    const world = testAttempt({
      step: { command: 'echo 1' },
      flush: { done: Promise.resolve().then(() => world.stop()), queued: '/nowhere' },
    });
    expect(await executor.run({}, world.attempt)).toEqual(canceled);
    expect([world.started, world.stdout()]).toEqual([[], '']);
  });

  test('prints any amount', async () => {
    const { outcome, attempt } = await runStep({ command: 'head -c 50000000 /dev/zero' });
    const { size } = statSync(attempt.log.stdoutPath);
    expect({ outcome, size }).toEqual({ outcome: succeeded, size: 50_000_000 });
  });

  test('ends when it ends, not when it closes its output', async () => {
    const { outcome, stdout, dir } = await runStep({ command: `${program('close-output.sh')} end` });
    expect({ outcome, stdout }).toEqual({ outcome: failed('exit', 'exit 7', 7), stdout: 'before\n' });
    expect(readFileSync(join(dir, 'end'), 'utf8')).toBe('end\n');
  });

  test('ends although a background process holds the output open, and spares that process', async () => {
    const { outcome, stdout, dir, processes } = await runStep({ command: `${program('hold-output.sh')} pid` });
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    expect({ outcome, stdout, alive: runs(pid) }).toEqual({ outcome: succeeded, stdout: 'done\n', alive: true });
    expect(processes()).toEqual([identify(pid)]);
  });
});

/** Whether the descriptor was already open in the parent of these tests. */
function isInherited(fd: string, target: string): boolean {
  try {
    return readlinkSync(`/proc/${process.ppid}/fd/${fd}`) === target;
  } catch {
    return false;
  }
}
