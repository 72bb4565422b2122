import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EndSignal } from '#processes/end-signal.ts';
import type { FailedStart, StartedProcess } from '#processes/started-program.ts';
import { ProgramStarter } from '#processes/starter/starter.ts';
import { temporaryDirectory } from '../../executors/attempt.ts';
import { eventually } from '../../support/background-runs.ts';

const path = process.env['PATH'] ?? '';
const pythonPath = '/usr/bin/python3';

/** The program runs: a failure to start it fails the test. */
function asStarted(made: StartedProcess | FailedStart): StartedProcess {
  if ('error' in made) throw made.error;
  return made;
}

const few = { expected: 0, awaited: null, slot: null, signal: new EndSignal() };

describe('a starter', () => {
  test('is opened for many programs, and runs as many at once as requested', async () => {
    const starter = new ProgramStarter(pythonPath);
    onTestFinished(() => starter.close());
    const dir = temporaryDirectory();
    const running: StartedProcess[] = [];
    const start = async () => {
      const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
      return starter.start({ argv: ['sleep', '0.01'], cwd: dir, env: { PATH: path } }, files, few);
    };
    expect(await start()).toBeNull();
    await expect
      .poll(
        async () => {
          const started = await start();
          if (started !== null) running.push(asStarted(started));
          return running.length;
        },
        { interval: 2 },
      )
      .toBeGreaterThan(30);
    for (const { ended } of running) expect(await ended).toEqual({ code: 0, signal: null });
  });

  test('is opened with the first program if many are expected', async () => {
    const starter = new ProgramStarter(pythonPath);
    onTestFinished(() => starter.close());
    const dir = temporaryDirectory();
    const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
    const start = (argv: readonly string[]) =>
      starter.start({ argv, cwd: dir, env: { PATH: path } }, files, { ...few, expected: 24 });
    expect(await start(['true'])).toBeNull();
    const started = await eventually(() => start(['true']));
    expect(await asStarted(started).ended).toEqual({ code: 0, signal: null });
  });

  test.each([
    ['a name that is nowhere', { argv: ['no-such-program'] }],
    ['a name with a NUL', { argv: ['true', 'a\0b'] }],
    ['a variable with a NUL', { argv: ['true'], env: { PATH: path, A: '\0' } }],
    ['a path that depends on the directory', { argv: ['./true'] }],
    ['a PATH that depends on the directory', { argv: ['true'], env: { PATH: `.:${path}` } }],
  ])('leaves cases that it is not certain of to others: %s', async (_name, given) => {
    const starter = new ProgramStarter(pythonPath);
    onTestFinished(() => starter.close());
    const dir = temporaryDirectory();
    const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
    for (let count = 0; count < 50; count++) {
      expect(await starter.start({ cwd: dir, env: { PATH: path }, ...given }, files, few)).toBeNull();
    }
    expect(existsSync(files.stdoutPath)).toBe(false);
  });
});
