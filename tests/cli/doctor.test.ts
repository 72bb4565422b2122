import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Check } from '#doctor/machine.ts';
import { wf, withDirectory } from '../support/wf.ts';

type World = {
  readonly dir: string;
  /** Puts a program into the only directory of PATH. */
  readonly program: (name: string, script: string) => void;
  readonly doctor: (env?: Readonly<Record<string, string>>) => Promise<ReadonlyMap<string, Check>>;
};

/** A machine with `sh` and the programs of the test, and without Docker. */
function onMachine(use: (world: World) => Promise<void>): Promise<void> {
  return withDirectory(async (dir) => {
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    symlinkSync('/bin/sh', join(bin, 'sh'));
    const program = (name: string, script: string) => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    };
    const env = { PATH: bin, HOME: dir, DOCKER_HOST: `unix://${dir}/no.sock`, TMPDIR: dir };
    const doctor = async (changes = {}) => {
      const { code, stdout, stderr } = await wf(['doctor', '--json'], { cwd: dir, env: { ...env, ...changes } });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return new Map((JSON.parse(stdout) as Check[]).map((check) => [check.name, check]));
    };
    await use({ dir, program, doctor });
  });
}

describe('wf doctor', () => {
  it('lists every executor and place', async () => {
    await onMachine(async ({ dir, doctor }) => {
      const checks = await doctor();
      expect([...checks.keys()]).toEqual([
        'node',
        'sh',
        'bash',
        'zsh',
        'fish',
        'terraform',
        'ansible-playbook',
        'ssh',
        'docker',
        'jq',
        'http',
        'webhook',
        'mail',
        'configuration',
        'workflows',
        'runs',
        'code cache',
        'umask',
        '/proc',
      ]);
      expect(checks.get('node')).toEqual({
        name: 'node',
        ok: true,
        version: process.versions.node,
        detail: process.execPath,
        help: null,
      });
      const sh = { name: 'sh', ok: true, version: null, detail: join(dir, 'bin/sh'), help: null };
      expect(checks.get('sh')).toEqual(sh);
      expect(checks.get('mail')).toEqual({ name: 'mail', ok: true, version: null, detail: 'built in', help: null });
    });
  });

  it('shows the versions of programs, and how to install missing ones', async () => {
    await onMachine(async ({ dir, program, doctor }) => {
      program('bash', 'echo "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"');
      program('ssh', '[ "$1" = -V ] && echo "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.11" >&2');
      program('ansible-playbook', 'echo "ansible-playbook [core 2.14.18]"');
      program('terraform', 'echo "Warning: 1.2.3"; echo "Terraform v1.11.4"');
      const checks = await doctor();
      const versions = ['bash', 'ssh', 'ansible-playbook', 'terraform'].map((name) => checks.get(name)?.version);
      expect(versions).toEqual(['5.2.15', '9.2p1', '2.14.18', '1.11.4']);
      expect(checks.get('bash')?.detail).toBe(join(dir, 'bin/bash'));
      expect(checks.get('zsh')).toEqual({
        name: 'zsh',
        ok: false,
        version: null,
        detail: 'not found in PATH',
        help: 'install the package "zsh"',
      });
    });
  });

  it('reports a broken program, and a hanging one', async () => {
    await onMachine(async ({ dir, program, doctor }) => {
      program('terraform', 'echo "no such library" >&2; exit 127');
      program('ssh', 'while :; do :; done');
      const checks = await doctor();
      expect(checks.get('terraform')).toEqual({
        name: 'terraform',
        ok: false,
        version: null,
        detail: `${dir}/bin/terraform does not report its version: exit 127`,
        help: 'try "terraform version"',
      });
      expect(checks.get('ssh')).toMatchObject({
        ok: false,
        detail: `${dir}/bin/ssh does not report its version: no answer within 10s`,
      });
    });
  });

  it('finds the Docker daemon of DOCKER_HOST, or reports the problem', async () => {
    await onMachine(async ({ dir, doctor }) => {
      const server = createServer(({ url }, response) => {
        response.end(url?.endsWith('/version') ? '{"Version": "27.1.1"}' : 'OK');
      });
      const socket = join(dir, 'docker.sock');
      await new Promise<void>((ready) => server.listen(socket, ready));
      onTestFinished(() => void server.close());
      expect((await doctor({ DOCKER_HOST: `unix://${socket}` })).get('docker')).toEqual({
        name: 'docker',
        ok: true,
        version: '27.1.1',
        detail: `a daemon at unix://${socket}`,
        help: null,
      });
      expect((await doctor()).get('docker')).toEqual({
        name: 'docker',
        ok: false,
        version: null,
        detail: `no Docker at unix://${dir}/no.sock: the socket does not exist`,
        help: 'start the daemon, or set DOCKER_HOST to the address of another one',
      });
    });
  });

  it('shows the directories of data, and why one cannot be written', async () => {
    await onMachine(async ({ dir, doctor }) => {
      const home = join(dir, 'home');
      const before = await doctor({ WF_HOME: home });
      expect(before.get('runs')).toMatchObject({ ok: true, detail: `${home}/runs (not created yet)` });
      writeFileSync(join(dir, 'file'), '');
      expect((await doctor({ WF_HOME: home, WF_DAGS: 'file/dags' })).get('workflows')).toEqual({
        name: 'workflows',
        ok: false,
        version: null,
        detail: `${dir}/file/dags: "${dir}/file" is not a directory`,
        help: 'change its owner or mode, or set WF_HOME to a directory that can be written',
      });
      mkdirSync(join(home, 'cache'), { recursive: true });
      chmodSync(join(home, 'cache'), 0o777);
      expect((await doctor({ WF_HOME: home })).get('code cache')).toMatchObject({
        ok: false,
        detail: `${home}/cache: not used, since others can write there`,
      });
    });
  });

  it('changes nothing', async () => {
    await onMachine(async ({ dir, program, doctor }) => {
      program('ansible-playbook', 'echo x > "$ANSIBLE_LOCAL_TEMP/x"; echo 2.14.18');
      expect((await doctor()).get('ansible-playbook')?.version).toBe('2.14.18');
      // Compiled code of the program itself is kept by every command.
      expect(readdirSync(dir).filter((name) => name !== '.cache')).toEqual(['bin']);
    });
  });

  it('prints a line for each check', async () => {
    await onMachine(async ({ dir }) => {
      const env = { PATH: join(dir, 'bin'), HOME: dir, DOCKER_HOST: 'tcp://127.0.0.1:1' };
      const { code, stdout } = await wf(['doctor'], { cwd: dir, env });
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^✔ {2}node +\d+\.\d+\.\d+ +\/.*\n✔ {2}sh +\/.*\/bin\/sh\n✖ {2}bash +not found in PATH\n {3}help: /,
      );
      expect(stdout).toContain('no Docker at tcp://127.0.0.1:1: nothing listens there\n   help: start the daemon, or');
    });
  });
});
