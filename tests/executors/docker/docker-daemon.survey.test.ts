import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkDocker } from '#doctor/machine.ts';
import { dockerAddress } from '#executors/docker/docker-daemon.ts';
import { failed, temporaryDirectory } from '../attempt.ts';
import { runDockerStep, startDockerStep } from './docker-step.ts';

/** Starts a server for the duration of a test; resolves to its address for `DOCKER_HOST`. */
async function listen(server: Server, where: { readonly path: string } | { readonly port: 0 }): Promise<string> {
  const sockets = new Set<{ destroy: () => void }>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen('path' in where ? where.path : { port: 0, host: '127.0.0.1' });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return 'path' in where ? `unix://${where.path}` : `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function socketPath(): string {
  return join(temporaryDirectory(), 'docker.sock');
}

/** Docker's answer to a ping, with the header that identifies it. */
function signOfLife(response: ServerResponse): string {
  response.setHeader('Api-Version', '1.45');
  return 'OK';
}

const elsewhere = 'or set DOCKER_HOST to the address of another one';

test('a missing daemon is reported with instructions', async () => {
  const path = socketPath();
  const { outcome, started } = await runDockerStep({ host: `unix://${path}` });
  const message = `no Docker at unix://${path}: the socket does not exist; start the daemon, ${elsewhere}`;
  expect({ outcome, started }).toEqual({ outcome: failed('error', message), started: [null] });
});

test('an address where nothing listens is reported', async () => {
  const server = createSocketServer();
  const host = await listen(server, { port: 0 });
  server.close();
  await once(server, 'close');
  const { outcome } = await runDockerStep({ host });
  expect(outcome).toEqual(
    failed('error', `no Docker at ${host}: nothing listens there; start the daemon, ${elsewhere}`),
  );
});

test('a host that does not exist is reported', async () => {
  const { outcome } = await runDockerStep({ host: 'tcp://docker.invalid:2375' });
  const message = 'no Docker at tcp://docker.invalid:2375: the host is unknown; correct DOCKER_HOST';
  expect(outcome).toEqual(failed('error', message));
});

test('a socket without permission is reported', async () => {
  const path = socketPath();
  await listen(createSocketServer(), { path });
  chmodSync(path, 0);
  const isRoot = process.getuid?.() === 0;
  // Root may use any socket.
  if (isRoot) process.seteuid?.(65534);
  try {
    const { DockerProblem } = await import('#executors/docker/docker-daemon.ts');
    const { connect } = await import('#executors/docker/docker-daemon.ts');
    const never = new AbortController().signal;
    await expect(connect({ DOCKER_HOST: `unix://${path}` }, { stop: never, over: never })).rejects.toEqual(
      new DockerProblem(
        `no permission for Docker at unix://${path}: join the group of the socket (mostly "docker") and log in again, ${elsewhere}`,
      ),
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test.each([['socket'], ['port']])(
  'a daemon at a %s that never answers fails the step within five seconds',
  { timeout: 5000 },
  async (kind) => {
    const host = await listen(createSocketServer(), kind === 'port' ? { port: 0 } : { path: socketPath() });
    const { outcome } = await runDockerStep({ host });
    const message = `Docker at ${host} does not answer (waited 3 s): restart the daemon, ${elsewhere}`;
    expect(outcome).toEqual(failed('error', message));
  },
);

test.each<[string, RequestListener]>([
  ['a page for every address', (_, response) => response.end('<html>welcome</html>')],
  ['JSON for every address', (_, response) => response.end('{"ok":true}')],
  ['nothing but errors', (_, response) => response.writeHead(404).end('no such page')],
])('a server that answers with %s is not recognized as Docker', async (_, listener) => {
  const host = await listen(createServer(listener), { port: 0 });
  const { outcome } = await runDockerStep({ host });
  const detail = `the server at ${host} is not Docker`;
  expect(outcome).toEqual(failed('error', `${detail}; correct DOCKER_HOST`));
  expect(await checkDocker({ DOCKER_HOST: host })).toEqual({
    name: 'docker',
    ok: false,
    version: null,
    detail,
    help: 'correct DOCKER_HOST',
  });
});

test('a server that does not speak HTTP is not recognized as Docker', async () => {
  const host = await listen(
    createSocketServer((socket) => socket.on('error', () => {}).end('220 mail.example.org ESMTP\r\n')),
    { port: 0 },
  );
  const { outcome } = await runDockerStep({ host });
  expect(outcome).toEqual(failed('error', `the server at ${host} is not Docker; correct DOCKER_HOST`));
});

test('a daemon behind a proxy that removes headers is recognized by its version', async () => {
  const daemon = createServer((request, response) => {
    if (request.url === '/_ping') response.end('OK');
    else response.end('{"Version":"27.1.1","ApiVersion":"1.46"}');
  });
  const host = await listen(daemon, { port: 0 });
  expect(await checkDocker({ DOCKER_HOST: host })).toEqual({
    name: 'docker',
    ok: true,
    version: '27.1.1',
    detail: `a daemon at ${host}`,
    help: null,
  });
});

test('a stop does not wait for a daemon that does not respond', async () => {
  const host = await listen(createSocketServer(), { path: socketPath() });
  const { running, stop } = startDockerStep({ host });
  stop();
  expect(await running).toEqual({ status: 'canceled', message: '', exitCode: null, signal: null });
});

test('a kill does not wait for a daemon that stopped responding', async () => {
  let isAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const daemon = createServer((request, response) => {
    if (request.url === '/_ping') response.end(signOfLife(response));
    else isAsked();
  });
  const host = await listen(daemon, { path: socketPath() });
  const { running, kill } = startDockerStep({ host });
  await asked;
  kill();
  expect(await running).toEqual({ status: 'canceled', message: '', exitCode: null, signal: null });
});

const answering: RequestListener = (request, response) => {
  if (request.url === '/_ping') response.end(signOfLife(response));
  else response.writeHead(500, { 'Content-Type': 'application/json' }).end('{"message":"out of\\norder"}');
};

test('the message of the daemon is reported in one line', async () => {
  const host = await listen(createServer(answering), { port: 0 });
  const { outcome } = await runDockerStep({ host });
  expect(outcome).toEqual(failed('error', 'out of order'));
});

test('a lost connection to a daemon is reported as lost', async () => {
  const daemon = createServer((request, response) => {
    if (request.url === '/_ping') response.end(signOfLife(response));
    else request.destroy();
  });
  const host = await listen(daemon, { port: 0 });
  const { outcome } = await runDockerStep({ host });
  expect(outcome).toEqual(failed('error', 'the connection to Docker was lost (socket hang up)'));
});

test.each([
  ['image', 'a b'],
  ['image', '../containers/json?all=1'],
  ['image', 'UPPER//x'],
  ['containerName', '../images/x'],
])('"%s: %s" never becomes an address', async (key, name) => {
  const host = await listen(createServer(answering), { port: 0 });
  const { outcome } = await runDockerStep({ host, config: { [key]: '$X' }, variables: { X: name } });
  const what = key === 'image' ? 'an image' : 'a container';
  expect(outcome).toEqual(failed('error', `"${name}" cannot be the name of ${what}`));
});

test('a daemon behind TLS is reached with the certificates of the environment', async () => {
  const folder = temporaryDirectory();
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const options = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files];
  execFileSync('sh', ['-c', 'openssl req "$@"', 'sh', ...options], { stdio: 'ignore' });
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const server = createTlsServer({ key, cert, ca: cert, requestCert: true, rejectUnauthorized: true }, answering);
  const host = await listen(server, { port: 0 });
  const variables = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: folder };

  const missing = await runDockerStep({ host, variables });
  writeFileSync(join(folder, 'ca.pem'), cert ?? '');
  const trusted = await runDockerStep({ host, variables });
  const plain = await runDockerStep({ host });

  expect([missing, trusted].map(({ outcome }) => outcome)).toEqual([
    failed(
      'error',
      `the certificates for Docker cannot be read: ENOENT: no such file or directory, open '${folder}/ca.pem'; ` +
        'DOCKER_CERT_PATH names their folder',
    ),
    failed('error', 'out of order'),
  ]);
  expect(plain.outcome).toMatchObject({ message: expect.stringContaining(`Docker at ${host} cannot be used: `) });
});

test.each([
  ['', 'unix:///var/run/docker.sock'],
  ['unix:///a/b', 'unix:///a/b'],
  ['tcp://h', 'tcp://h:2375'],
  ['tcp://h:80', 'tcp://h:80'],
  ['h:1234', 'tcp://h:1234'],
  ['tcp://[::1]:2375', 'tcp://[::1]:2375'],
  ['https://h/', 'tcp://h:2376'],
])('DOCKER_HOST "%s" is %s', (host, label) => {
  expect(dockerAddress({ DOCKER_HOST: host, HOME: '/nowhere' }).label).toBe(label);
});

test.each([
  [
    'ssh://me@h',
    /^DOCKER_HOST=ssh:\/\/me@h: ssh is not supported; forward the socket with "ssh -N -L .* me@h" and set /,
  ],
  ['ftp://h', /^DOCKER_HOST=ftp:\/\/h: not an address such as /],
  ['tcp://', /^DOCKER_HOST=tcp:\/\/: not an address such as /],
])('DOCKER_HOST "%s" is rejected', (host, message) => {
  expect(() => dockerAddress({ DOCKER_HOST: host })).toThrow(message);
});
