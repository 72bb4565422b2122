import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { executor } from '#executors/ssh/ssh.ts';
import { describeWith } from '../../support/require.ts';
import { runService } from '../../support/services.ts';
import { failed, fileText, program, runs, succeeded, temporaryDirectory, testAttempt, until } from '../attempt.ts';
import { isSshThere, keyPassword, runRemote, type SshServer, startRemote, startSshd } from './sshd.ts';

describeWith('ssh', isSshThere, 'a step on another machine', () => {
  let server: SshServer;

  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.close());

  test('has the output and the exit code of its remote command', async () => {
    expect(await runRemote(server, { step: { command: 'echo out; echo err >&2; exit 3' } })).toEqual({
      outcome: failed('exit', 'exit 3', 3),
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  test('shows its output while it is running', async () => {
    const { running, stdout, stop } = startRemote(server, { step: { command: 'echo first; sleep 300' } });
    await until(() => stdout() === 'first\n');
    stop();
    await running;
  });

  test('has no input and no terminal', async () => {
    const { outcome, stdout } = await runRemote(server, { step: { command: 'cat; tty; echo end' } });
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'not a tty\nend\n' });
  });

  test('fails if the remote command fails to start', async () => {
    const { outcome, stderr } = await runRemote(server, { step: { command: 'no-such-program x' } });
    expect({ outcome, stderr }).toEqual({
      outcome: failed('exit', 'exit 127', 127),
      stderr: expect.stringContaining('not found'),
    });
  });

  test('keeps an exit code that ssh uses for its own failures', async () => {
    const { outcome } = await runRemote(server, { step: { command: 'echo no >&2; exit 255' } });
    expect(outcome).toEqual(failed('exit', 'exit 255', 255));
  });

  test('reports the signal that ended the command as 128 + its number', async () => {
    const { outcome } = await runRemote(server, { step: { command: 'kill -USR1 $$' } });
    expect(outcome).toEqual(failed('exit', 'exit 138', 138));
  });

  describe('with a script', () => {
    test("runs it remotely with the step's shell, with the parameters as arguments, and removes it", async () => {
      const script = 'echo "$0"\nprintf "%s|" "$@"; echo ${BASH_VERSION:+bash}\n';
      const { outcome, stdout } = await runRemote(server, {
        step: { command: null, script, shell: 'bash -e' },
        params: ['a b', "'$X"],
      });
      const [path = '', rest] = stdout.split('\n');
      expect({ outcome, rest }).toEqual({ outcome: succeeded, rest: "a b|'$X|bash" });
      expect({ path, exists: existsSync(path) }).toEqual({
        path: expect.stringMatching(/^\/.*\/script$/),
        exists: false,
      });
    });

    test('runs it with the interpreter in its first line', async () => {
      const script = '#!/usr/bin/env perl\nprint "perl @ARGV\\n";\n';
      const { outcome, stdout } = await runRemote(server, { step: { command: null, script, args: ['a', 'b  c'] } });
      expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'perl a b  c\n' });
    });

    test('runs it with the command as interpreter, even if that needs a shell', async () => {
      const script = 'echo "script $1"; exit 4';
      const { outcome, stdout } = await runRemote(server, {
        step: { command: 'echo first && sh', script, args: ['x y'] },
      });
      expect({ outcome, stdout }).toEqual({ outcome: failed('exit', 'exit 4', 4), stdout: 'first\nscript x y\n' });
    });

    test('runs one that exceeds the limit of an argument', async () => {
      const script = `: ${'x'.repeat(300_000)}\necho 'a\\nb\\\\'\n`;
      const { outcome, stdout } = await runRemote(server, { step: { command: 'bash', script } });
      expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'a\\nb\\\\\n' });
    });
  });

  describe('that is stopped', () => {
    test('passes its signal on, and ends when the command has ended', async () => {
      const dir = temporaryDirectory();
      const { running, stop, stdout } = startRemote(server, {
        step: { command: `cd '${dir}' && exec '${program('graceful.sh')}' USR1 ready`, signalOnStop: 'SIGUSR1' },
      });
      await fileReady(join(dir, 'ready'));
      stop();
      expect({ outcome: await running, stdout: stdout() }).toEqual({ outcome: succeeded, stdout: 'got USR1\n' });
    });

    test('reaches everything that the command has started', async () => {
      const dir = temporaryDirectory();
      const command = `sleep 300 & echo $! >${dir}/pid; wait`;
      const { running, stop } = startRemote(server, { step: { command } });
      const pid = Number(await fileText(join(dir, 'pid')));
      stop();
      expect(await running).toEqual(failed('exit', 'exit 143', 143));
      await until(() => !runs(pid));
    });

    test('by SIGINT ends a command that does not handle it', async () => {
      const { running, stop, stdout } = startRemote(server, {
        step: { command: 'echo ready; exec sleep 300', signalOnStop: 'SIGINT' },
      });
      await until(() => stdout() === 'ready\n');
      stop();
      expect(await running).toEqual(failed('exit', 'exit 130', 130));
    });

    test('and ignores it is killed there after the grace period', async () => {
      const dir = temporaryDirectory();
      const { running, stop, kill } = startRemote(server, {
        step: { command: null, script: `trap '' TERM; echo $$ $0 >${dir}/pid; while :; do sleep 0.1; done` },
      });
      const [pid = '', script = ''] = (await fileText(join(dir, 'pid'))).trim().split(' ');
      stop();
      kill();
      expect(await running).toMatchObject({ status: 'failed', reason: 'signal', signal: 'SIGKILL' });
      await until(() => !runs(Number(pid)) && !existsSync(script));
    });

    test('before it starts is not started', async () => {
      const dir = temporaryDirectory();
      const world = testAttempt({ step: { command: `touch ${dir}/ran` } });
      world.stop();
      const outcome = await executor.run({ host: '127.0.0.1' }, world.attempt);
      expect({ outcome, started: world.started }).toEqual({
        outcome: { status: 'canceled', message: '', exitCode: null, signal: null },
        started: [],
      });
    });

    test('while it connects does not do its work', async () => {
      const dir = temporaryDirectory();
      const { running, stop } = startRemote(server, { step: { command: `sleep 1; touch ${dir}/ran` } });
      stop();
      expect(await running).toEqual(failed('exit', 'exit 143', 143));
      expect(existsSync(join(dir, 'ran'))).toBe(false);
    });
  });

  test('does not outlive the ssh that runs it', async () => {
    const dir = temporaryDirectory();
    const { running, started } = startRemote(server, { step: { command: `echo $$ >${dir}/pid; exec sleep 300` } });
    const pid = Number(await fileText(join(dir, 'pid')));
    process.kill(started[0]?.pid ?? Number.NaN, 'SIGKILL');
    expect(await running).toMatchObject({ status: 'failed', signal: 'SIGKILL' });
    await until(() => !runs(pid));
  });

  test('fails with the message of ssh if the connection is lost', async () => {
    const { running, stdout } = startRemote(server, {
      step: { command: 'ps -o ppid= -p $PPID; echo ready; exec sleep 300' },
    });
    await until(() => stdout().endsWith('ready\n'));
    process.kill(Number.parseInt(stdout(), 10), 'SIGKILL');
    const message = 'the connection was lost (ssh: Connection to 127.0.0.1 closed by remote host)';
    expect(await running).toEqual(failed('exit', message, 255));
  });

  test('fails as lost after a first contact too, of which ssh says "Permanently added"', async () => {
    const known = readFileSync(server.knownHosts, 'utf8');
    writeFileSync(server.knownHosts, '');
    onTestFinished(() => writeFileSync(server.knownHosts, known));
    const step = { command: 'ps -o ppid= -p $PPID; echo ready; exec sleep 300' };
    const { running, stdout, stderr } = startRemote(server, { step }, { strictHostKeyChecking: 'accept-new' });
    await until(() => stdout().endsWith('ready\n'));
    process.kill(Number.parseInt(stdout(), 10), 'SIGKILL');
    const message = 'the connection was lost (ssh: Connection to 127.0.0.1 closed by remote host)';
    expect(await running).toEqual(failed('exit', message, 255));
    expect(stderr()).toContain('Permanently added');
  });

  test('fails as lost if the connection is reset', async () => {
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const there = connect(server.port, '127.0.0.1').on('error', () => {});
      sockets.push(socket.on('error', () => {}).on('close', () => there.destroy()));
      socket.pipe(there).pipe(socket);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => void proxy.close());
    const config = { port: (proxy.address() as AddressInfo).port, strictHostKeyChecking: false };
    const { running, stdout } = startRemote(server, { step: { command: 'echo $PPID; exec sleep 300' } }, config);
    await until(() => stdout().endsWith('\n'));
    for (const socket of sockets) socket.resetAndDestroy();
    expect(await running).toEqual(
      failed('exit', expect.stringMatching(/^the connection was lost \(ssh: .+[^.]\)$/), 255),
    );
    await until(() => !runs(Number(stdout())));
  });

  describe('with a password', () => {
    const config = () => ({ key: server.lockedKey, password: '$SECRET' });

    test('gives it to ssh on request, here to open the key', async () => {
      const { outcome, stderr } = await runRemote(
        server,
        { step: { command: 'true' }, variables: { SECRET: keyPassword } },
        config(),
      );
      expect({ outcome, stderr }).toEqual({ outcome: succeeded, stderr: '' });
    });

    test('that is wrong fails', async () => {
      const { outcome } = await runRemote(
        server,
        { step: { command: 'true' }, variables: { SECRET: 'other' } },
        config(),
      );
      expect(outcome).toMatchObject({ status: 'failed', exitCode: 255 });
    });

    test('shows it in no list of processes, here or on the server', async () => {
      const { running, started, stdout, stop } = startRemote(
        server,
        { step: { command: 'env; echo ready', script: null }, variables: { SECRET: keyPassword } },
        config(),
      );
      const argv = readFileSync(`/proc/${started[0]?.pid}/cmdline`, 'utf8');
      await until(() => stdout().endsWith('ready\n'));
      stop();
      await running;
      expect({ argv: argv.includes(keyPassword), there: stdout().includes(keyPassword) }).toEqual({
        argv: false,
        there: false,
      });
    });
  });

  test('of fixtures/services/ssh runs', async () => {
    const { port, user, key, path } = server;
    const given = [`LOGIN=${user}`, `PORT=${port}`, `KEY=${key}`].flatMap((param) => ['-p', param]);
    const { ended } = await runService('ssh', { PATH: path }, given);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain(`| logged in as ${user}\n`);
    expect(ended.stdout).toContain(`| told: it's "here" & there; {x} | y\n`);
  });

  test('takes its settings from variables, and "~" in a key as the home directory', async () => {
    const home = join(server.key, '..');
    const variables = { HOME: home, KEY: 'key', WHERE: '127.0.0.1' };
    const config = { host: '$WHERE', key: '~/${KEY}', port: String(server.port) };
    const { outcome, stdout } = await runRemote(server, { step: { command: 'echo $HOME' }, variables }, config);
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: `${userInfo().homedir}\n` });
  });
});

async function fileReady(path: string): Promise<void> {
  await until(() => existsSync(path));
}
