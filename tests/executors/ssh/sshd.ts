import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { executor } from '#executors/ssh/ssh.ts';
import { isInstalled } from '../../support/require.ts';
import { testAttempt } from '../attempt.ts';

/** The server's program, which must be started by its absolute path. */
const sshdProgram = '/usr/sbin/sshd';

/** Whether the server, the client and ssh-keygen are installed. */
export const isSshThere = [sshdProgram, 'ssh', 'ssh-keygen'].every(isInstalled);

/** Empty directory that Debian's sshd requires when started by root. */
const privilegeSeparation = '/run/sshd';

/** A real SSH server on this machine for the tests of one file, with everything needed to log in. */
export type SshServer = {
  readonly port: number;
  readonly user: string;
  readonly key: string;
  /** A key of the same user, locked with `keyPassword`. */
  readonly lockedKey: string;
  readonly strangersKey: string;
  readonly knownHosts: string;
  /** A PATH on which `ssh` reads its own configuration instead of the user's. */
  readonly path: string;
  readonly close: () => Promise<void>;
};

/** Unlocks `lockedKey`. */
export const keyPassword = "pass word's";

/** Starts a server on a free port: each connection gets its own `sshd`, like from inetd. */
export async function startSshd(): Promise<SshServer> {
  const dir = mkdtempSync(join(tmpdir(), 'wf-sshd-'));
  const { host, key, lockedKey, strangersKey } = makeKeys(dir);
  writeFileSync(join(dir, 'authorized_keys'), publicKeys(key, lockedKey), { mode: 0o600 });
  writeFileSync(join(dir, 'sshd_config'), serverSettings(dir, host));
  if (userInfo().uid === 0) mkdirSync(privilegeSeparation, { recursive: true, mode: 0o755 });
  const children = new Set<ChildProcess>();
  const server = await listen(join(dir, 'sshd_config'), children);
  const { port } = server.address() as AddressInfo;
  const knownHosts = join(dir, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${port} ${publicKeys(host)}`);
  const close = async () => {
    for (const child of children) child.kill('SIGKILL');
    await new Promise((done) => server.close(done));
    rmSync(dir, { recursive: true });
  };
  const path = [clientDirectory(dir, knownHosts), process.env['PATH']].join(delimiter);
  return { port, user: userInfo().username, key, lockedKey, strangersKey, knownHosts, path, close };
}

type Settings = NonNullable<Parameters<typeof testAttempt>[0]>;
type Config = Readonly<Record<string, string | number | boolean>>;

/** Starts a step on the server. */
export function startRemote(server: SshServer, settings: Settings, config: Config = {}) {
  const { port, user, key, path } = server;
  const world = testAttempt({ ...settings, variables: { PATH: path, ...settings.variables } });
  return { ...world, running: executor.run({ host: '127.0.0.1', port, user, key, ...config }, world.attempt) };
}

/** Runs a step on the server to its end. */
export async function runRemote(...args: Parameters<typeof startRemote>) {
  const { running, stdout, stderr } = startRemote(...args);
  const outcome = await running;
  return { outcome, stdout: stdout(), stderr: stderr() };
}

function makeKeys(dir: string) {
  const make = (name: string, password = '') => {
    const file = join(dir, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', password, '-C', name, '-f', file]);
    return file;
  };
  return {
    host: make('host'),
    key: make('key'),
    lockedKey: make('locked', keyPassword),
    strangersKey: make('stranger'),
  };
}

function publicKeys(...files: readonly string[]): string {
  return files.map((file) => execFileSync('cat', [`${file}.pub`], { encoding: 'utf8' })).join('');
}

function serverSettings(dir: string, hostKey: string): string {
  return `HostKey ${hostKey}
AuthorizedKeysFile ${join(dir, 'authorized_keys')}
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
LogLevel QUIET
`;
}

async function listen(config: string, children: Set<ChildProcess>): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn(sshdProgram, ['-i', '-f', config], { stdio: [socket, socket, 'ignore'] });
    children.add(child);
    child.once('exit', () => children.delete(child));
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

/** `ssh` reads the configuration in the home directory of the password file, whatever HOME says. */
function clientDirectory(dir: string, knownHosts: string): string {
  const bin = join(dir, 'bin');
  const settings = join(dir, 'ssh_config');
  writeFileSync(settings, `UserKnownHostsFile ${knownHosts}\nGlobalKnownHostsFile /dev/null\nIdentityAgent none\n`);
  mkdirSync(bin);
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec ${ssh} -F ${settings} "$@"\n`);
  chmodSync(join(bin, 'ssh'), 0o755);
  return bin;
}
