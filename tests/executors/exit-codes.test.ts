import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { executor } from '#executors/command/command.ts';
import { failed, killed, program, runStep, testAttempt } from './attempt.ts';

describe('exit codes', () => {
  test.each([
    ['exit 3', failed('exit', 'exit 3', 3)],
    ['exit 255', failed('exit', 'exit 255', 255)],
    ['no-such-program-here | cat; no-such-program-here', failed('exit', 'exit 127', 127)],
    ['no-such-program-here --flag', failed('exit', 'command not found: "no-such-program-here"', 127)],
    ['./missing', failed('exit', 'command not found: "./missing"', 127)],
    ['./plain', failed('exit', 'not executable: "./plain"', 126)],
    ['./directory', failed('exit', '"./directory" is a directory', 126)],
    [
      './lost',
      failed('exit', '"./lost" cannot be started: "/no/such/interpreter", its interpreter, was not found', 127),
    ],
    ['./windows', failed('exit', '"./windows" cannot be started: its lines end in CR LF; convert them to LF', 127)],
  ])('%s', async (command, expected) => {
    const world = testAttempt({ step: { command } });
    writeFileSync(join(world.dir, 'plain'), 'echo no', { mode: 0o644 });
    writeFileSync(join(world.dir, 'lost'), '#!/no/such/interpreter -x\n', { mode: 0o755 });
    writeFileSync(join(world.dir, 'windows'), '#!/bin/sh\r\necho hi\r\n', { mode: 0o755 });
    mkdirSync(join(world.dir, 'directory'));
    expect(await executor.run({}, world.attempt)).toEqual(expected);
  });

  test.each<[NodeJS.Signals, number]>([
    ['SIGSEGV', 139],
    ['SIGKILL', 137],
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('a process killed by %s has 128 and its number', async (signal, exitCode) => {
    const { outcome } = await runStep({ command: `kill -${signal.slice(3)} $$; sleep 300` });
    expect(outcome).toEqual({ ...killed(signal), exitCode });
  });
});

describe('a program that cannot start', () => {
  test('a directory that does not exist', async () => {
    const { outcome } = await runStep({ command: 'true' }, { cwd: '/no/such/place' });
    expect(outcome).toEqual(failed('error', 'directory "/no/such/place" does not exist'));
  });

  test('a directory that is a file', async () => {
    const { outcome } = await runStep({ command: 'true' }, { cwd: program('argv.sh') });
    expect(outcome).toEqual(failed('error', `"${program('argv.sh')}" is not a directory`));
  });

  test('a variable that is too large', async () => {
    const { outcome } = await runStep({ command: 'true' }, { variables: { BIG: 'x'.repeat(140_000), SMALL: 'y' } });
    expect(outcome).toEqual(
      failed(
        'error',
        expect.stringMatching(
          /^arguments and environment are too large to start "true" \(\d+ bytes\): variable "BIG" is the largest with 140004 bytes; one may have 131071$/,
        ) as unknown as string,
      ),
    );
  });

  test('an argument with a NUL', async () => {
    const { outcome } = await runStep({ command: 'echo $X' }, { variables: { X: 'a\0b' } });
    expect(outcome).toEqual(
      failed('error', 'argument 1 of "echo" contains a NUL character, which cannot be passed to a program'),
    );
  });

  test('a variable with a NUL', async () => {
    const { outcome } = await runStep({ command: 'true' }, { variables: { X: 'a\0b' } });
    expect(outcome).toEqual(
      failed('error', 'variable "X" contains a NUL character, which cannot be passed to a program'),
    );
  });

  test('a missing shell', async () => {
    const { outcome } = await runStep({ command: 'a | b', shell: 'no-such-shell -e' });
    expect(outcome).toEqual(failed('exit', 'command not found: "no-such-shell"', 127));
  });

  test('a shell with more than a program and options', async () => {
    const { outcome } = await runStep({ command: 'a | b', shell: 'sh | sh' });
    expect(outcome).toEqual(failed('error', 'shell "sh | sh" is not a program with its options'));
  });
});
