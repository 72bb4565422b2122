import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sendSignal } from '#processes/attempt-tree.ts';
import { identityFor, isAlive } from '#processes/process-identity.ts';
import { ReportingStarter } from '#processes/starter/reporting-starter.ts';
import { temporaryDirectory } from '../../executors/attempt.ts';

const python = '/usr/bin/python3';

/** A starter that is ready, and the log of what it starts; `descriptors`: the maximum number that it may have. */
async function readyStarter(env: Readonly<Record<string, string>> = {}, descriptors = 'unlimited') {
  const dir = temporaryDirectory();
  const log = join(dir, 'log');
  writeFileSync(log, '');
  const limited = join(dir, 'python');
  writeFileSync(limited, `#!/bin/sh\nulimit -n ${descriptors}\nexec ${python} "$@"\n`, { mode: 0o700 });
  const starter = new ReportingStarter(env, descriptors === 'unlimited' ? python : limited);
  onTestFinished(() => starter.close());
  const run = (script: string, file = log) => starter.start({ argv: ['/bin/sh', '-c', script], cwd: dir, env }, file);
  await expect.poll(() => run('exit 0')?.ended, { interval: 2 }).toBe('exit 0');
  const start = (script: string, file?: string) => {
    const started = run(script, file);
    if (started === null) throw new Error('the starter did not start it');
    return started;
  };
  return { dir, starter, start, output: () => readFileSync(log, 'utf8') };
}

describe('a process that the starter starts', () => {
  test('reports one line and then how it ended', async () => {
    const { start } = await readyStarter();
    const started = start('printf "%s\\n" "{\\"größe\\": 1}" >&3; exec 3>&-; exit 4');
    expect(await started.report).toBe('{"größe": 1}\n');
    expect(await started.ended).toBe('exit 4');
    expect(await start('kill -9 $$').ended).toBe('killed by SIGKILL');
  });

  test('may close the pipe without a whole line', async () => {
    const { start } = await readyStarter();
    for (const script of ['exit 0', 'printf part >&3', 'exec 3>&-; sleep 0.1'])
      expect(await start(script).report).toBe(null);
  });

  test('may report a long line in parts', async () => {
    const { start } = await readyStarter();
    const text = await start('head -c 200000 /dev/zero | tr "\\0" x >&3; echo >&3').report;
    expect(text?.length).toBe(200_001);
  });

  test('appends its output to the log, in the session of the starter, in the given directory and environment', async () => {
    const { dir, starter, start, output } = await readyStarter({ SOME: 'value' });
    await start('pwd; echo "$SOME" >&2; read -r line || echo no input').ended;
    await start('cut -d " " -f 5,6 /proc/$$/stat; env | grep -v "^\\(PWD\\|OLDPWD\\|_\\|SHLVL\\)="').ended;
    expect(output().split('\n')).toEqual([dir, 'value', 'no input', `${starter.pid} ${starter.pid}`, 'SOME=value', '']);
  });

  test('inherits no other descriptor', async () => {
    const { start, output } = await readyStarter();
    await start('cd /proc/$$/fd; for fd in 0 1 2 3 4 5 6 7 8 9; do if test -e $fd; then echo $fd; fi; done').ended;
    expect(output()).toBe('0\n1\n2\n3\n');
  });

  test('that cannot be started has no report and ends with the reason', async () => {
    const { dir, start } = await readyStarter();
    const started = start('exit 0', join(dir, 'missing', 'log'));
    expect([await started.report, await started.ended]).toEqual([
      null,
      '"/bin/sh" could not be started: it, its directory or its log does not exist',
    ]);
  });

  test('is not started without descriptors for its pipe, until another has ended', async () => {
    // Eight are those of the starter itself.
    const { dir, start } = await readyStarter({}, '10');
    const other = start('until test -e end; do sleep 0.02; done');
    const started = start('exit 0');
    expect([await started.report, await started.ended]).toEqual([
      null,
      '"/bin/sh" could not be started: too many open files in this process',
    ]);
    writeFileSync(join(dir, 'end'), '');
    expect([await other.report, await other.ended]).toEqual([null, 'exit 0']);
    expect(await start('exit 0').ended).toBe('exit 0');
  });

  test('survives the starter, and its end is still noticed', async () => {
    const { starter, start } = await readyStarter();
    const sleep = async () => {
      const started = start('echo $$ >&3; exec sleep 60');
      const identity = identityFor(Number(await started.report));
      onTestFinished(() => void sendSignal(identity, 'SIGKILL'));
      return { ...started, identity };
    };
    const [one, other] = [await sleep(), await sleep()];
    process.kill(starter.pid ?? 0, 'SIGKILL');
    await expect.poll(() => starter.start({ argv: ['/bin/true'], cwd: '/', env: {} }, '/dev/null')).toBe(null);
    expect([one, other].map(({ identity }) => isAlive(identity))).toEqual([true, true]);
    sendSignal(one.identity, 'SIGTERM');
    expect(await one.ended).toBe('the process that started it was ended from outside');
    expect(isAlive(other.identity)).toBe(true);
  });

  test('has no report if the starter is ended first', async () => {
    const { starter, start, output } = await readyStarter();
    const started = start('echo $$; sleep 0.3; echo too late >&3');
    await expect.poll(output).not.toBe('');
    process.kill(starter.pid ?? 0, 'SIGKILL');
    expect(await started.report).toBe(null);
    await started.ended;
  });
});

test('without Python nothing is started', () => {
  const starter = new ReportingStarter({}, '/nonexistent/python3');
  expect(starter.start({ argv: ['/bin/true'], cwd: '/', env: {} }, '/dev/null')).toBe(null);
  expect(starter.pid).toBeUndefined();
});
