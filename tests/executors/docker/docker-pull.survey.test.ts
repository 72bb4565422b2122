import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { hasDocker, makeArchive, startDocker, type TestDocker } from '../../support/docker.ts';
import { startRegistry } from '../../support/registry.ts';
import { describeWith } from '../../support/require.ts';
import { failed, succeeded, temporaryDirectory, until } from '../attempt.ts';
import { type DockerStepSettings, runDockerStep, startDockerStep } from './docker-step.ts';

describeWith('docker', hasDocker, 'the image of a docker step', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  const run = (settings: Omit<DockerStepSettings, 'host'>) => runDockerStep({ host: world.host, ...settings });

  async function registry(login: string | null = null) {
    const files = readFileSync(makeArchive(temporaryDirectory()));
    const started = await startRegistry(files, { Cmd: ['echo', 'pulled'], StopSignal: 'SIGUSR1' }, login);
    onTestFinished(async () => {
      started.stop();
      await world.docker
        .getImage(started.image)
        .remove({ force: true })
        .catch(() => {});
    });
    return started;
  }

  test('is pulled when it is missing, with a few lines of output, and not again', async () => {
    const { image } = await registry();
    const first = await run({ config: { image }, step: { command: null } });
    const second = await run({ config: { image }, step: { command: null } });
    expect([first, second].map(({ outcome, stdout, stderr }) => ({ outcome, stdout, stderr }))).toEqual([
      {
        outcome: succeeded,
        stdout: 'pulled\n',
        stderr: `pulling ${image}\npulling ${image}: layer 1 of 1\nDownloaded newer image for ${image}\n`,
      },
      { outcome: succeeded, stdout: 'pulled\n', stderr: '' },
    ]);
  });

  test.each([['always'], [true]])('is pulled every time if "pull" is %s', async (pull) => {
    const { image } = await registry();
    await run({ config: { image, pull }, step: { command: null } });
    const { stderr } = await run({ config: { image, pull }, step: { command: null } });
    expect(stderr).toBe(`pulling ${image}\nImage is up to date for ${image}\n`);
  });

  test.each([['never'], [false]])('is never pulled if "pull" is %s', async (pull) => {
    const { image, logins } = await registry();
    const { outcome } = await run({ config: { image, pull } });
    expect(outcome).toEqual(failed('error', `image "${image}" does not exist, and "pull" is "never"`));
    expect(logins).toEqual([]);
  });

  test('for another platform does not match the local one', async () => {
    const { outcome } = await run({ config: { pull: 'never', platform: 'linux/s390x' } });
    expect(outcome).toMatchObject({
      message: expect.stringMatching(/^image "wf-test:1" exists for linux\/\w+ only, and "pull" is "never"$/),
    });
    const own = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
    expect((await run({ config: { pull: 'never', platform: own } })).outcome).toEqual(succeeded);
  });

  test('is pulled with the login that is stored for its registry', async () => {
    const { image, logins } = await registry('me:pass:word');
    const folder = temporaryDirectory();
    const server = image.split('/')[0] ?? '';
    const variables = { DOCKER_CONFIG: folder };

    const none = await run({ config: { image }, step: { command: null }, variables });
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ auths: { [server]: { auth: Buffer.from('me:pass:word').toString('base64') } } }),
    );
    const stored = await run({ config: { image }, step: { command: null }, variables });

    expect(none.outcome).toMatchObject({
      message: expect.stringMatching(
        /^image ".*" cannot be pulled: .*no basic auth.*; give a login for 127\.0\.0\.1:\d+ in "registryAuths", or run docker login$/,
      ),
    });
    expect({ outcome: stored.outcome, logins }).toEqual({ outcome: succeeded, logins: [null, 'me:pass:word'] });
  });

  test.each([
    ['a map', (host: string) => ({ workflow: { registryAuths: { [host]: { username: 'me', password: '$PASS' } } } })],
    ['base64', (host: string) => ({ workflow: { registryAuths: { [host]: { auth: base64 } } } })],
    ['a text', (host: string) => ({ workflow: { registryAuths: '$TEXT' }, variables: { TEXT: configFor(host) } })],
    ['the environment', (host: string) => ({ variables: { DOCKER_AUTH_CONFIG: configFor(host) } })],
  ])('is pulled with the login in %s', async (_, settingsFor) => {
    const { image, logins } = await registry('me:pass:word');
    const { variables, ...settings }: Omit<DockerStepSettings, 'host'> = settingsFor(image.split('/')[0] ?? '');
    const all = { PASS: 'pass:word', DOCKER_CONFIG: '/nowhere', ...variables };
    const { outcome } = await run({ config: { image }, step: { command: null }, ...settings, variables: all });
    expect({ outcome, logins }).toEqual({ outcome: succeeded, logins: [null, 'me:pass:word'] });
  });

  test('is not pulled with a wrong login, which the message names without its password', async () => {
    const { image } = await registry('me:pass:word');
    const host = image.split('/')[0] ?? '';
    const workflow = { registryAuths: { [host]: { username: 'me', password: 'wrong-one' } } };
    const { outcome } = await run({ config: { image }, step: { command: null }, workflow });
    const message = new RegExp(`^image ".*" cannot be pulled: .*; ${host} refuses the login that it was given$`);
    expect(outcome).toMatchObject({ status: 'failed', message: expect.stringMatching(message) });
    expect(JSON.stringify(outcome)).not.toContain('wrong-one');
  });

  test('is pulled with the login of a credential helper', async () => {
    const { image, logins } = await registry('me:secret');
    const folder = temporaryDirectory();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const helper = `#!/bin/sh\n[ "$1 $(cat)" = "get ${image.split('/')[0]}" ] && echo '{"Username":"me","Secret":"secret"}'\n`;
    writeFileSync(join(bin, 'docker-credential-test'), helper);
    chmodSync(join(bin, 'docker-credential-test'), 0o700);
    writeFileSync(join(folder, 'config.json'), '{"credsStore":"test"}');
    const variables = { DOCKER_CONFIG: folder, PATH: `${bin}:${process.env['PATH']}` };
    const { outcome } = await run({ config: { image }, step: { command: null }, variables });
    expect({ outcome, logins }).toEqual({ outcome: succeeded, logins: [null, 'me:secret'] });
  });

  test('that is in no registry fails the step with its message', async () => {
    const { image } = await registry();
    const other = image.replace(/1$/, '2');
    const { outcome } = await run({ config: { image: other } });
    expect(outcome).toMatchObject({
      reason: 'error',
      message: expect.stringMatching(/^image ".*" cannot be pulled: manifest (unknown|for .* not found)/),
    });
  });

  test('from an unreachable registry fails the step at once', async () => {
    const { outcome } = await run({ config: { image: '127.0.0.1:1/x' } });
    expect(outcome).toMatchObject({
      reason: 'error',
      message: expect.stringMatching(/^image "127\.0\.0\.1:1\/x" cannot be pulled: .*connection refused/),
    });
  });

  test('does not delay a stop', async () => {
    let isAsked = false;
    const silent = createServer(() => {
      isAsked = true;
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    await once(silent, 'listening');
    const image = `127.0.0.1:${(silent.address() as AddressInfo).port}/x:1`;
    const { running, stop, attempt } = startDockerStep({ host: world.host, config: { image } });
    await until(() => isAsked);
    stop();
    expect(await running).toEqual({ status: 'canceled', message: '', exitCode: null, signal: null });
    expect(await world.containersOf(attempt.runId)).toEqual([]);
  });

  test('names the stop signal of its program', async () => {
    const { image } = await registry();
    const command = ['sh', '-c', 'trap "echo got USR1; exit 0" USR1; echo ready; while :; do sleep 0.01; done'];
    const { running, stop, stdout } = startDockerStep({ host: world.host, config: { image }, step: { command } });
    await until(() => stdout().includes('ready'));
    stop();
    expect(await running).toEqual(succeeded);
    expect(stdout()).toBe('ready\ngot USR1\n');
  });
});

const base64 = Buffer.from('me:pass:word').toString('base64');

/** A Docker configuration with the login of a registry. */
function configFor(host: string): string {
  return JSON.stringify({ auths: { [host]: { auth: base64 } } });
}
