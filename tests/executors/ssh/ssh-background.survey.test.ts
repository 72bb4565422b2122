import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BOOTSTRAP, supervisedLine } from '#executors/ssh/code.ts';
import { describeWith, isInstalled } from '../../support/require.ts';
import { failed, program, runs, succeeded, temporaryDirectory, until } from '../attempt.ts';
import { isSshThere, runRemote, type SshServer, startRemote, startSshd } from './sshd.ts';

const holdOutput = program('hold-output.sh');

describeWith('ssh', isSshThere, 'a background process that a step leaves on another machine', () => {
  let server: SshServer;

  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.close());

  test('is ended with the command, and the step has the exit code of the command', async () => {
    const pidFile = join(temporaryDirectory(), 'pid');
    const { outcome, stdout } = await runRemote(server, { step: { command: `${holdOutput} ${pidFile}; exit 4` } });
    expect({ outcome, stdout }).toEqual({ outcome: failed('exit', 'exit 4', 4), stdout: 'done\n' });
    await until(() => !runs(numberIn(pidFile)));
  });

  test('is killed soon if it ignores the signal', async () => {
    const { command, pidFile } = leavesIgnorer();
    expect(await runRemote(server, { step: { command } })).toEqual({ outcome: succeeded, stdout: '', stderr: '' });
    await until(() => !runs(numberIn(pidFile)));
  });

  test('is killed soon after a stop that it ignores', async () => {
    const { command, pidFile } = leavesIgnorer();
    const { running, stop, stdout } = startRemote(server, { step: { command: `${command}; echo on; exec sleep 300` } });
    await until(() => stdout() === 'on\n');
    stop();
    expect(await running).toEqual(failed('exit', 'exit 143', 143));
    await until(() => !runs(numberIn(pidFile)));
  });

  test('is left alone if the step asks for it', async () => {
    const pidFile = join(temporaryDirectory(), 'pid');
    const command = `sleep 300 >/dev/null 2>&1 & echo $! >${pidFile}; exit 4`;
    const { outcome } = await runRemote(server, { step: { command, leaveBackground: true } });
    const pid = numberIn(pidFile);
    onTestFinished(() => void process.kill(pid));
    expect({ outcome, left: runs(pid) }).toEqual({ outcome: failed('exit', 'exit 4', 4), left: true });
  });
});

const shells = [['dash'], ['bash', '--posix'], ['busybox', 'sh']].filter(([file = '']) => isInstalled(file));

describe.each(shells)('the supervisor in %s %s', (file, ...options) => {
  test('ends background processes', async () => {
    const pidFile = join(temporaryDirectory(), 'pid');
    const code = `${holdOutput} ${pidFile}; exit 4`;
    expect(await supervised([file, ...options], code, false)).toEqual({ status: 4, stdout: 'done\n', stderr: '' });
    await until(() => !runs(numberIn(pidFile)));
  });

  test('spares background processes on request', async () => {
    const pidFile = join(temporaryDirectory(), 'pid');
    const code = `sleep 300 >/dev/null 2>&1 & echo $! >${pidFile}; echo done; exit 4`;
    const ended = await supervised([file, ...options], code, true);
    const pid = numberIn(pidFile);
    onTestFinished(() => void process.kill(pid));
    expect({ ...ended, left: runs(pid) }).toEqual({ status: 4, stdout: 'done\n', stderr: '', left: true });
  });
});

/** Runs code like a server does: in its own session, until every process has closed the output. */
async function supervised([file = '', ...options]: readonly (string | undefined)[], code: string, spare: boolean) {
  const inner = /'(.*)'$/.exec(BOOTSTRAP)?.[1] ?? '';
  const args = [...options.filter((option) => option !== undefined), '-c', inner];
  const child = spawn(file, args, { detached: true });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  child.stdin.write(supervisedLine({ code, script: null, leaveBackground: spare }, 'SIGTERM'));
  const status = await new Promise((resolve) => child.once('close', resolve));
  return { status, ...output };
}

/** A command that leaves a program which ignores SIGTERM and holds the output open. */
function leavesIgnorer() {
  const dir = temporaryDirectory();
  const [ready, pidFile] = [join(dir, 'ready'), join(dir, 'pid')];
  const start = `${program('ignore-term.sh')} ${ready} & echo $! >${pidFile}`;
  return { command: `${start}; until [ -e ${ready} ]; do sleep 0.01; done`, pidFile };
}

function numberIn(file: string): number {
  return Number(readFileSync(file, 'utf8'));
}
