import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EndSignal } from '#processes/end-signal.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { sendSignal } from '#processes/process-signals.ts';
import { listProcesses } from '#processes/process-table.ts';
import type { FailedStart, StartedProcess } from '#processes/started-process.ts';
import { Starter } from '#processes/starter/starter.ts';
import { Starters } from '#processes/starter/starters.ts';
import { temporaryDirectory } from '../../executors/attempt.ts';
import { eventually } from '../../support/background-runs.ts';

const path = process.env['PATH'] ?? '';
const pythonPath = '/usr/bin/python3';

/** A ready starter, with the output files of its programs. */
async function readyStarter(env: Readonly<Record<string, string>> = { PATH: path }) {
  const dir = temporaryDirectory();
  const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
  let wake = () => {};
  const starter = new Starter(env, () => wake());
  onTestFinished(() => starter.close());
  const ready = async () => {
    while (starter.state !== 'ready') {
      if (starter.state === 'gone') throw new Error('the starter is gone');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  await ready();
  const start = (argv: readonly string[], given: { cwd?: string; env?: Record<string, string>; path?: string } = {}) =>
    starter.start(
      starter.request({
        argv,
        path: given.path ?? argv[0] ?? '',
        cwd: given.cwd ?? dir,
        env: given.env ?? env,
        ...files,
      }),
    );
  const stdout = () => readFileSync(files.stdoutPath, 'utf8');
  return { dir, files, starter, ready, start, stdout, stderr: () => readFileSync(files.stderrPath, 'utf8') };
}

describe('a program that a starter starts', () => {
  test('has its arguments, environment and directory byte for byte', async () => {
    const hostile = ['', ' ', 'a b', "it's", '"', '$HOME', '`id`', '\n\n', '12\n', '%s', 'ä€𝄞', '\u0001', '*', '\\'];
    const world = await readyStarter({ PATH: path, KEPT: 'kept', LEFT_OUT: 'x', CHANGED: 'before' });
    const env = { PATH: path, KEPT: 'kept', CHANGED: 'a=b\n"c"', NEW: '', constructor: 'c' };
    const printed = `process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))`;
    const argv = ['node', '-e', printed, '--', ...hostile];
    const { ended } = world.start(argv, { env, path: process.execPath });
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(JSON.parse(world.stdout())).toEqual([hostile, env, realpathSync(world.dir)]);
  });

  test('leads a session of its own, reads nothing and has no other descriptor', async () => {
    const { start, stdout } = await readyStarter();
    const list = 'cat; ls /proc/self/fd';
    const { identity, ended } = start(['/bin/sh', '-c', `${list}; cut -d' ' -f5,6 /proc/$$/stat`]);
    expect(await ended).toEqual({ code: 0, signal: null });
    // This process may itself have inherited some of them.
    const usual = spawnSync('sh', ['-c', list], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }).stdout;
    expect(stdout()).toBe(`${usual}${identity.pid} ${identity.pid}\n`);
  });

  test('is known by number, start time and boot before it starts', async () => {
    const { start } = await readyStarter();
    const { identity, ended } = start(['/bin/sleep', '300']);
    expect(identity).toEqual(identify(identity.pid));
    sendSignal(identity, 'SIGKILL');
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(identity)).toBe(false);
  });

  test('that is killed before it starts is not started by the next child', async () => {
    const world = await readyStarter();
    for (let round = 0; round < 30; round++) {
      const left = join(world.dir, `left-${round}`);
      const { identity, ended } = world.start(['/bin/sh', '-c', 'exec sleep 300', 'x'.repeat(1000 * round)]);
      process.kill(identity.pid, 'SIGKILL');
      expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
      await world.ready();
      expect(await world.start(['/bin/touch', left]).ended).toEqual({ code: 0, signal: null });
      expect(existsSync(left)).toBe(true);
      await world.ready();
    }
    expect(world.stderr()).toBe('');
  });

  test.each([
    ['exit 0', { code: 0, signal: null }],
    ['exit 3', { code: 3, signal: null }],
    ['exit 143', { code: 143, signal: null }],
    ['kill -TERM $$', { code: null, signal: 'SIGTERM' }],
    ['kill -SEGV $$', { code: null, signal: 'SIGSEGV' }],
    ['kill -PIPE $$', { code: null, signal: 'SIGPIPE' }],
  ])('reports exactly how it ended: %s', async (script, end) => {
    const { start } = await readyStarter();
    expect(await start(['/bin/sh', '-c', script]).ended).toEqual(end);
  });

  test('appends to its files, which are made private', async () => {
    const world = await readyStarter();
    for (const text of ['a', 'b']) {
      await world.start(['/bin/sh', '-c', `echo ${text}; echo ${text}${text} >&2`]).ended;
      await world.ready();
    }
    expect([world.stdout(), world.stderr()]).toEqual(['a\nb\n', 'aa\nbb\n']);
    expect(statSync(world.files.stdoutPath).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['a missing program', { path: '/nowhere/program' }, 'ENOENT'],
    ['a program that may not be run', { path: '/etc/passwd' }, 'EACCES'],
    ['a missing directory', { cwd: '/nowhere' }, 'ENOENT'],
    ['arguments that are too large', { env: { PATH: path, LARGE: 'x'.repeat(200_000) } }, 'E2BIG'],
  ])('fails with the error of the system: %s', async (_name, given, code) => {
    const world = await readyStarter();
    expect(await world.start(['/bin/true'], given).ended).toEqual({ error: expect.objectContaining({ code }) });
    await world.ready();
    expect(await world.start(['/bin/true']).ended).toEqual({ code: 0, signal: null });
  });

  test('does not outlive a starter that is killed', async () => {
    const { start, starter } = await readyStarter();
    const { identity, ended } = start(['/bin/sleep', '300']);
    process.kill(starter.pid ?? 0, 'SIGKILL');
    expect(await ended).toEqual({ error: expect.any(Error) });
    await expect.poll(() => isAlive(identity)).toBe(false);
    expect(starter.state).toBe('gone');
  });
});

/** The program runs: a failure to start it fails the test. */
function asStarted(made: StartedProcess | FailedStart): StartedProcess {
  if ('error' in made) throw made.error;
  return made;
}

const few = { expected: 0, awaited: null, slot: null, signal: new EndSignal() };

describe.each([
  ['in Python', pythonPath],
  ['in Perl', null],
])('starters %s', (_name, python) => {
  test('are opened for many programs, and run as many at once as requested', async () => {
    const starters = new Starters(python);
    onTestFinished(() => starters.close());
    const dir = temporaryDirectory();
    const running: StartedProcess[] = [];
    const start = async () => {
      const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
      return starters.start({ argv: ['sleep', '0.01'], cwd: dir, env: { PATH: path } }, files, few);
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

  test('are opened with the first program if many are expected', async () => {
    const starters = new Starters(python);
    onTestFinished(() => starters.close());
    const dir = temporaryDirectory();
    const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
    const start = (argv: readonly string[]) =>
      starters.start({ argv, cwd: dir, env: { PATH: path } }, files, { ...few, expected: 24 });
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
  ])('leave cases they are not certain of to others: %s', async (_name, given) => {
    const starters = new Starters(python);
    onTestFinished(() => starters.close());
    const dir = temporaryDirectory();
    const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
    for (let count = 0; count < 50; count++) {
      expect(await starters.start({ cwd: dir, env: { PATH: path }, ...given }, files, few)).toBeNull();
    }
    expect(existsSync(files.stdoutPath)).toBe(false);
  });
});

describe('a starter in Perl', () => {
  test('leaves long arguments to others', async () => {
    const starters = new Starters(null);
    onTestFinished(() => starters.close());
    const dir = temporaryDirectory();
    const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
    const program = { argv: ['true', 'x'.repeat(100_000)], cwd: dir, env: { PATH: path } };
    for (let count = 0; count < 50; count++) expect(await starters.start(program, files, few)).toBeNull();
    expect(existsSync(files.stdoutPath)).toBe(false);
  });

  test('leaves a program without a free slot to others', async () => {
    const starters = new Starters(null);
    onTestFinished(() => starters.close());
    const dir = temporaryDirectory();
    const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
    const program = { argv: ['true'], cwd: dir, env: { PATH: path } };
    const start = (isFree: boolean) => {
      const slot = { group: 1, limit: 1, queued: () => {}, isFree: () => isFree, free: () => null };
      return starters.start(program, files, { ...few, expected: 24, slot });
    };
    for (const started of [await eventually(() => start(true)), await eventually(() => start(true))]) {
      expect(await start(false)).toBeNull();
      await asStarted(started).ended;
    }
  });

  test('ends with this process', async () => {
    const { starter } = await readyStarter();
    const pid = starter.pid ?? 0;
    const family = () => listProcesses().filter((entry) => entry.pid === pid || entry.parent === pid);
    expect(family()).toHaveLength(2);
    starter.close();
    await expect.poll(family).toEqual([]);
  });
});
