import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../support/require.ts';
import { failed, succeeded } from '../attempt.ts';
import { isSshThere, runRemote, type SshServer, startRemote, startSshd } from './sshd.ts';

describeWith('ssh', isSshThere, 'a step on another machine', () => {
  let server: SshServer;

  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.close());

  describe('that is unreachable', () => {
    test('fails with the last message of ssh', async () => {
      const { outcome, stderr } = await runRemote(server, { step: { command: 'true' } }, { port: 1 });
      const message = 'ssh: connect to host 127.0.0.1 port 1: Connection refused';
      expect({ outcome, stderr }).toEqual({ outcome: failed('exit', message, 255), stderr: `${message}\n` });
    });

    test.each([
      [{ port: 99_999 }, /^ssh: Bad port '99999'$/],
      [{ host: '-oProxyCommand=touch x' }, /^ssh: hostname contains invalid characters$/],
      [{ strictHostKeyChecking: 'maybe' }, /^ssh: .*"maybe"/],
    ])('with settings that ssh rejects reports that before anything is started: %j', async (config, message) => {
      const { running, started } = startRemote(server, { step: { command: 'true' } }, config);
      expect({ outcome: await running, started }).toEqual({
        outcome: failed('error', expect.stringMatching(message)),
        started: [],
      });
    });

    test('without permission to log in reports it, and asks for no password', async () => {
      const { outcome } = await runRemote(server, { step: { command: 'true' } }, { key: server.strangersKey });
      expect(outcome).toMatchObject({
        exitCode: 255,
        message: expect.stringMatching(/^ssh: .*Permission denied \(publickey/),
      });
    });

    test('with a missing key file reports it before anything is started', async () => {
      const { outcome } = await runRemote(server, { step: { command: 'true' } }, { key: '~/no-such-key' });
      expect(outcome).toEqual(failed('error', 'the key "~/no-such-key" cannot be read'));
    });

    test.each([22, 99_999])('without ssh explains how to install it: port %i', async (port) => {
      const settings = { step: { command: 'true' }, variables: { PATH: '/nowhere' } };
      const { outcome } = await runRemote(server, settings, { port });
      const message = 'command not found: "ssh": install the OpenSSH client (package "openssh-client")';
      expect(outcome).toEqual(failed('exit', message, 127));
    });
  });

  describe('whose key is not known', () => {
    async function runUnknown(config: Parameters<typeof startRemote>[2]) {
      const known = readFileSync(server.knownHosts, 'utf8');
      writeFileSync(server.knownHosts, '');
      const { outcome } = await runRemote(server, { step: { command: 'true' } }, config);
      const remembered = readFileSync(server.knownHosts, 'utf8') !== '';
      writeFileSync(server.knownHosts, known);
      return { outcome, remembered };
    }
    const advice = '127.0.0.1 is not in known_hosts: add its key, or set "strictHostKeyChecking: accept-new"';
    const refused = failed('exit', `ssh: Host key verification failed: ${advice}`, 255);

    test.each([{}, { strictHostKeyChecking: true }, { strictHostKeyChecking: 'yes' }])(
      'is rejected: %j',
      async (config) => {
        expect(await runUnknown(config)).toEqual({ outcome: refused, remembered: false });
      },
    );

    test('is rejected even if a password could answer the question', async () => {
      expect(await runUnknown({ password: 'yes' })).toEqual({ outcome: refused, remembered: false });
    });

    test.each([false, 'no'])('is accepted and not remembered: %j', async (strictHostKeyChecking) => {
      expect(await runUnknown({ strictHostKeyChecking })).toEqual({ outcome: succeeded, remembered: false });
    });

    test('is rejected with other advice if it has changed', async () => {
      const known = readFileSync(server.knownHosts, 'utf8');
      const other = readFileSync(`${server.strangersKey}.pub`, 'utf8');
      writeFileSync(server.knownHosts, `[127.0.0.1]:${server.port} ${other}`);
      const { outcome, stderr } = await runRemote(server, { step: { command: 'true' } });
      writeFileSync(server.knownHosts, known);
      const why = 'the key of 127.0.0.1 has changed: if that is expected, remove the old one, which the log names';
      expect(outcome).toEqual(failed('exit', `ssh: Host key verification failed: ${why}`, 255));
      expect(stderr).toContain(`${server.knownHosts}:1\n`);
    });

    test('is accepted and remembered on request', async () => {
      const config = { strictHostKeyChecking: 'accept-new' };
      expect(await runUnknown(config)).toEqual({ outcome: succeeded, remembered: true });
    });
  });
});
