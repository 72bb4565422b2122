import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ProgramSlot } from '#executors/executor.ts';
import { sendSignal } from '#processes/attempt-tree.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { identify, isAlive, listProcesses } from '#processes/process-identity.ts';
import type { FailedStart, StartedProcess } from '#processes/started-program.ts';
import { SharedStarter, type StartConditions } from '#processes/starter/starter.ts';
import { temporaryDirectory } from '../../executors/attempt.ts';
import { withoutInternals } from '../without-internals.ts';

const path = process.env['PATH'] ?? '';
const python = '/usr/bin/python3';

type Given = Partial<StartConditions> & {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly path?: string;
};

/** A ready starter, with the output files of its programs. */
async function readyStarter(env: Readonly<Record<string, string>> = { PATH: path }) {
  const dir = temporaryDirectory();
  const files = { stdoutPath: join(dir, 'out'), stderrPath: join(dir, 'err') };
  const starter = new SharedStarter(python, env);
  onTestFinished(() => starter.close());
  await expect.poll(() => starter.state, { interval: 2 }).toBe('ready');
  const ask = (argv: readonly string[], given: Given = {}) => {
    const { awaited = null, slot = null, signal = new EndSignal(), ...program } = given;
    const request = starter.request({ argv, path: argv[0] ?? '', cwd: dir, env, ...program, ...files });
    return starter.start(request, { awaited, slot, signal });
  };
  const start = async (argv: readonly string[], given?: Given) => {
    const started = await ask(argv, given);
    if (started === null) throw new Error('its file was not flushed');
    if ('error' in started) throw started.error;
    return started;
  };
  const run = async (argv: readonly string[], given?: Given) => (await start(argv, given)).ended;
  const text = (file: string) => readFileSync(file, 'utf8');
  return {
    dir,
    files,
    starter,
    ask,
    start,
    run,
    stdout: () => text(files.stdoutPath),
    stderr: () => text(files.stderrPath),
  };
}

/** A slot of a program of the group. */
function slotOf(group: number, limit: number): ProgramSlot {
  return { group, limit, queued: () => {}, isFree: () => true, free: () => null };
}

/** The program that was started. Throws if it was not. */
function programOf(started: StartedProcess | FailedStart | null | undefined): StartedProcess {
  if (!started || 'error' in started) throw new Error('it was not started');
  return started;
}

describe.skipIf(!existsSync(python)).each([
  ['with the handle of Node', () => {}],
  ['without it', withoutInternals],
])('a program of the shared starter %s', (_how, prepare) => {
  beforeEach(prepare);
  afterEach(() => vi.restoreAllMocks());

  test('has its arguments, environment and directory byte for byte', async () => {
    const hostile = ['', ' ', 'a b', "it's", '"', '$HOME', '`id`', '\n\n', '12\n', '%s', 'ä€𝄞', '\u0001', '*', '\\'];
    const world = await readyStarter({ PATH: path, KEPT: 'kept', LEFT_OUT: 'x', CHANGED: 'before' });
    const env = { PATH: path, KEPT: 'kept', CHANGED: 'a=b\n"c"', NEW: '', constructor: 'c', LONG: 'x'.repeat(100_000) };
    const printed = `process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))`;
    const argv = ['node', '-e', printed, '--', ...hostile];
    expect(await world.run(argv, { env, path: process.execPath })).toEqual({ code: 0, signal: null });
    expect(JSON.parse(world.stdout())).toEqual([hostile, env, realpathSync(world.dir)]);
  });

  test('leads a session of its own, reads nothing, has no other descriptor and ignores no signal', async () => {
    const { start, stdout } = await readyStarter();
    const list = 'cat; ls /proc/self/fd; grep Sig[BIC] /proc/self/status';
    const { identity, ended } = await start(['/bin/sh', '-c', `${list}; cut -d' ' -f5,6 /proc/$$/stat`]);
    expect(await ended).toEqual({ code: 0, signal: null });
    // This process may itself have inherited some of them.
    const usual = spawnSync('sh', ['-c', list], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }).stdout;
    // The C library ignores two signals of its own (32 and 33) in every program that it spawns.
    const own = stdout().replace('0000000180000000', '0000000000000000');
    expect(own).toBe(`${usual}${identity.pid} ${identity.pid}\n`);
  });

  test('is known by its start time also when the starter takes it from the clock', async () => {
    const { start } = await readyStarter();
    for (let count = 0; count < 20; count += 1) {
      const { identity, ended } = await start(['/bin/sleep', '300']);
      expect(identity).toEqual(identify(identity.pid));
      sendSignal(identity, 'SIGKILL');
      await ended;
    }
  });

  test('is known by number, start time and boot', async () => {
    const { start } = await readyStarter();
    const { identity, ended } = await start(['/bin/sleep', '300']);
    expect(identity).toEqual(identify(identity.pid));
    sendSignal(identity, 'SIGKILL');
    expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(identity)).toBe(false);
  });

  test.each([
    ['exit 0', { code: 0, signal: null }],
    ['exit 3', { code: 3, signal: null }],
    ['exit 143', { code: 143, signal: null }],
    ['kill -TERM $$', { code: null, signal: 'SIGTERM' }],
    ['kill -SEGV $$', { code: null, signal: 'SIGSEGV' }],
    ['kill -PIPE $$', { code: null, signal: 'SIGPIPE' }],
  ])('has its exact end: %s', async (script, end) => {
    const { run } = await readyStarter();
    expect(await run(['/bin/sh', '-c', script])).toEqual(end);
  });

  test('is a script without an interpreter line for a shell', async () => {
    const world = await readyStarter();
    const script = join(world.dir, 'script');
    writeFileSync(script, 'echo "$# $1"; exit 4\n');
    chmodSync(script, 0o700);
    expect(await world.run(['other', 'a b', 'c'], { path: script })).toEqual({ code: 4, signal: null });
    expect(world.stdout()).toBe('2 a b\n');
  });

  test('appends to its files, which are made private', async () => {
    const world = await readyStarter();
    for (const text of ['a', 'b']) await world.run(['/bin/sh', '-c', `echo ${text}; echo ${text}${text} >&2`]);
    expect([world.stdout(), world.stderr()]).toEqual(['a\nb\n', 'aa\nbb\n']);
    expect(statSync(world.files.stdoutPath).mode & 0o777).toBe(0o600);
  });

  test('runs beside hundreds of others, each with its own end', async () => {
    const { run } = await readyStarter();
    const codes = Array.from({ length: 300 }, (_, at) => at % 256);
    const ends = await Promise.all(codes.map((code) => run(['/bin/sh', '-c', `sleep 0.05; exit ${code}`])));
    expect(ends).toEqual(codes.map((code) => ({ code, signal: null })));
  });

  test.each([
    ['a missing program', { path: '/nowhere/program' }, 'ENOENT'],
    ['a program that may not be run', { path: '/etc/passwd' }, 'EACCES'],
    ['a missing directory', { cwd: '/nowhere' }, 'ENOENT'],
    ['a variable that is too large', { env: { PATH: path, LARGE: 'x'.repeat(200_000) } }, 'E2BIG'],
  ])('fails with the system`s error: %s', async (_name, given, code) => {
    const { ask, run } = await readyStarter();
    expect(await ask(['/bin/true'], given)).toEqual({ error: expect.objectContaining({ code }) });
    expect(await run(['/bin/true'])).toEqual({ code: 0, signal: null });
  });

  test('does not outlive a starter that is killed', async () => {
    const { start, ask, starter } = await readyStarter();
    const { identity, ended } = await start(['/bin/sleep', '300']);
    process.kill(starter.pid ?? 0, 'SIGSTOP');
    const unanswered = ask(['/bin/sleep', '300']);
    const unflushed = starter.flush('/nowhere');
    process.kill(starter.pid ?? 0, 'SIGKILL');
    expect(await ended).toEqual({ error: expect.any(Error) });
    expect(await unanswered).toEqual({ error: expect.any(Error) });
    expect(await unflushed).toBeNull();
    await expect.poll(() => isAlive(identity)).toBe(false);
    expect(starter.state).toBe('gone');
  });

  test('starts after the flush of a file that it waits for', async () => {
    const { dir, starter, run } = await readyStarter();
    const file = join(dir, 'journal');
    writeFileSync(file, 'x');
    const flushed = starter.flush(file);
    expect(await run(['/bin/true'], { awaited: file })).toEqual({ code: 0, signal: null });
    expect(await flushed).toBeGreaterThan(0);
  });

  test('does not start if the file that it waits for could not be flushed', async () => {
    const { dir, starter, ask, run } = await readyStarter();
    const [file, other] = [join(dir, 'journal'), join(dir, 'other')];
    writeFileSync(other, 'x');
    const flushed = [starter.flush(file), starter.flush(other)];
    expect(await ask(['/bin/true'], { awaited: file })).toBeNull();
    expect(await Promise.all(flushed)).toEqual([null, expect.any(Number)]);
    expect(await run(['/bin/true'], { awaited: other })).toEqual({ code: 0, signal: null });
    writeFileSync(file, 'x');
    expect(await starter.flush(file)).toBeGreaterThan(0);
    expect(await run(['/bin/true'], { awaited: file })).toEqual({ code: 0, signal: null });
  });

  test('leaves no flushed file open', async () => {
    const { dir, starter } = await readyStarter();
    const file = join(dir, 'journal');
    writeFileSync(file, 'x');
    await starter.flush(file);
    const open = readdirSync(`/proc/${starter.pid}/fd`).map((fd) => readlinkSync(`/proc/${starter.pid}/fd/${fd}`));
    expect(open).not.toContain(file);
  });

  test('waits for a slot among the programs of its group, in the order of the requests', async () => {
    const { ask, start } = await readyStarter();
    const slot = slotOf(1, 2);
    const [first, second] = [
      await start(['/bin/sleep', '300'], { slot }),
      await start(['/bin/sleep', '301'], { slot }),
    ];
    const answers: string[] = [];
    const later = ['a', 'b'].map(async (name) => {
      const started = await ask(['/bin/sleep', '302'], { slot });
      answers.push(name);
      return started;
    });
    const other = await start(['/bin/sleep', '303'], { slot: slotOf(2, 1) });
    const free = await start(['/bin/sleep', '304']);
    expect(answers).toEqual([]);
    sendSignal(other.identity, 'SIGKILL');
    sendSignal(free.identity, 'SIGKILL');
    await Promise.all([other.ended, free.ended]);
    expect(answers).toEqual([]);
    sendSignal(second.identity, 'SIGKILL');
    const third = programOf(await later[0]);
    expect(answers).toEqual(['a']);
    sendSignal(first.identity, 'SIGKILL');
    const fourth = programOf(await later[1]);
    expect(answers).toEqual(['a', 'b']);
    for (const { identity } of [third, fourth]) sendSignal(identity, 'SIGKILL');
    expect(await fourth.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('takes no slot if it could not be started or its file was not flushed', async () => {
    const { starter, ask, start } = await readyStarter();
    const slot = slotOf(1, 1);
    const first = await start(['/bin/sleep', '300'], { slot });
    void starter.flush('/nowhere/journal');
    const later = [
      ask(['/nowhere/program'], { slot }),
      ask(['/bin/true'], { slot, awaited: '/nowhere/journal' }),
      ask(['/bin/true'], { slot }),
    ];
    sendSignal(first.identity, 'SIGKILL');
    expect(await later[0]).toEqual({ error: expect.objectContaining({ code: 'ENOENT' }) });
    expect(await later[1]).toBeNull();
    expect(await programOf(await later[2]).ended).toEqual({ code: 0, signal: null });
  });

  test('does not start if it was withdrawn before the end of the program that it waits for', async () => {
    const { ask, start } = await readyStarter();
    const slot = slotOf(1, 1);
    for (let count = 0; count < 20; count += 1) {
      const first = await start(['/bin/sleep', '300'], { slot });
      const signal = new EndSignal();
      const withdrawn = [ask(['/bin/true'], { slot, signal }), ask(['/bin/true'], { slot, signal })];
      const kept = ask(['/bin/true'], { slot });
      signal.abort('stop');
      sendSignal(first.identity, 'SIGKILL');
      expect(await Promise.all(withdrawn)).toEqual([null, null]);
      expect(await programOf(await kept).ended).toEqual({ code: 0, signal: null });
    }
  });

  test('leaves its slot to others if it is abandoned, once', async () => {
    const { ask, start } = await readyStarter();
    const slot = slotOf(1, 1);
    const first = await start(['/bin/sleep', '300'], { slot });
    const later = [ask(['/bin/sleep', '300'], { slot }), ask(['/bin/true'], { slot })];
    first.abandon();
    const second = programOf(await later[0]);
    sendSignal(first.identity, 'SIGKILL');
    await first.ended;
    expect(await Promise.race([later[1], start(['/bin/true']).then(() => 'waits')])).toBe('waits');
    sendSignal(second.identity, 'SIGKILL');
    expect(await programOf(await later[1]).ended).toEqual({ code: 0, signal: null });
  });

  test('that has started is not withdrawn', async () => {
    const { start } = await readyStarter();
    const signal = new EndSignal();
    const { ended } = await start(['/bin/sleep', '0.05'], { slot: slotOf(1, 1), signal });
    signal.abort('stop');
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  test('does not keep its starter in its directory', async () => {
    const { start, starter } = await readyStarter();
    const { identity, ended } = await start(['/bin/sleep', '300']);
    expect(readlinkSync(`/proc/${starter.pid}/cwd`)).toBe('/');
    sendSignal(identity, 'SIGKILL');
    await ended;
  });
});

describe.skipIf(!existsSync(python))('the shared starter', () => {
  test('ends with this process', async () => {
    const { starter } = await readyStarter();
    const pid = starter.pid ?? 0;
    const family = () => listProcesses().filter((entry) => entry.pid === pid || entry.parent === pid);
    expect(family()).toHaveLength(1);
    starter.close();
    await expect.poll(family).toEqual([]);
  });

  test.each(['/bin/false', '/nowhere/python'])('is gone if %s is no Python', async (program) => {
    const starter = new SharedStarter(program, { PATH: path });
    await expect.poll(() => starter.state, { interval: 2 }).toBe('gone');
  });
});
