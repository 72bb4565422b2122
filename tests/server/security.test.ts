import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Limits } from '#server/connection/load-limits.ts';
import type { Route } from '#server/route.ts';
import { createServer, type ListenSettings } from '#server/server.ts';
import { type ApiServer, apiServer, openSettings } from '../support/api-server.ts';
import { certificateFile } from '../support/http-server.ts';
import { withDirectory } from '../support/wf.ts';

const routes: readonly Route[] = [route('GET', 'read'), route('POST', 'write')];

test('requests must name this machine, at any port, or an allowed host', async () => {
  const { ask, address } = await apiServer(routes, { allowedHosts: ['wf.example.com', 'proxy:81'] });
  const { port } = address;
  const statusOf = async (Host: string) => (await ask('GET', '/it', { headers: { Host } })).status;

  const mine = [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`];
  const forwarded = [
    'localhost',
    '127.0.0.1',
    `localhost:${port + 1}`,
    '127.0.0.1:9000',
    '127.0.0.2:9000',
    '[::1]:9000',
  ];
  for (const host of [...mine, ...forwarded, 'wf.example.com', 'wf.example.com:9999', 'Proxy:81']) {
    expect([host, await statusOf(host)]).toEqual([host, 200]);
  }
  const others = [`evil.com:${port}`, 'evil.com', `localhost.evil.com:${port}`, `127.0.0.1.evil.com:${port}`];
  const odd = [
    `localhost.:${port}`,
    `127.0.0.1.nip.io:${port}`,
    `127.1:${port}`,
    `10.0.0.1:${port}`,
    'proxy',
    'xwf.example.com',
  ];
  for (const host of [...others, ...odd]) expect([host, await statusOf(host)]).toEqual([host, 421]);
});

test('a request must have exactly one Host header and a path as its target', async () => {
  const { raw, address } = await apiServer(routes);
  const host = `Host: localhost:${address.port}`;
  const statusOf = async (head: string) => (await raw(`${head}\r\nConnection: close\r\n\r\n`)).split(' ')[1];

  expect(await statusOf(`GET /it HTTP/1.1\r\n${host}`)).toBe('200');
  expect(await statusOf('GET /it HTTP/1.1')).toBe('400');
  expect(await statusOf('GET /it HTTP/1.0')).toBe('400');
  expect(await statusOf(`GET /it HTTP/1.1\r\n${host}\r\nHost: evil.com`)).toBe('400');
  expect(await statusOf(`GET /it HTTP/1.1\r\n${host}\r\n${host}`)).toBe('400');
  expect(await statusOf(`GET http://evil.com/it HTTP/1.1\r\n${host}`)).toBe('400');
  expect(await statusOf(`GET /it HTTP/1.1\r\nHost: user@localhost:${address.port}`)).toBe('400');
  expect(await statusOf(`OPTIONS * HTTP/1.1\r\n${host}`)).toBe('400');
});

test('a request that could be read as two different ones is rejected', async () => {
  const { raw, address } = await apiServer(routes);
  const head = `POST /it HTTP/1.1\r\nHost: localhost:${address.port}\r\nContent-Type: application/json\r\n`;
  const smuggled = [
    'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /it HTTP/1.1\r\n\r\n',
    'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
    'Content-Length: +2\r\n\r\n{}',
    'Content-Length: 2, 2\r\n\r\n{}',
    'Transfer-Encoding: identity, chunked\r\nContent-Length: 2\r\n\r\n{}',
    'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
    'X: a\r\n b: folded\r\nContent-Length : 2\r\n\r\n{}',
    'Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
    'X: \x00\r\n\r\n',
  ];

  for (const rest of smuggled) {
    const answers = (await raw(head + rest)).match(/HTTP\/1\.1 \d+/g);
    expect([rest, answers]).toEqual([rest, ['HTTP/1.1 400']]);
  }
});

test('the number and length of headers and the request line are limited', async () => {
  const { ask, raw, address } = await apiServer(routes, {}, { limits: { headerBytes: 4096, headerCount: 20 } });
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'x']));

  expect((await ask('GET', '/it', { headers: headers(15) })).status).toBe(200);
  expect((await ask('GET', '/it', { headers: headers(25) })).status).toBe(431);
  expect((await ask('GET', '/it', { headers: { 'X-Long': 'x'.repeat(5000) } })).status).toBe(431);
  expect((await ask('GET', `/it?${'x'.repeat(5000)}`)).status).toBe(431);
  const many = 'X: x\r\n'.repeat(500);
  expect(await raw(`GET /it HTTP/1.1\r\nHost: localhost:${address.port}\r\n${many}\r\n`)).toMatch(/^HTTP\/1.1 431/);
});

test("requests of other sites' pages are rejected, and those of other programs accepted", async () => {
  const { ask, url } = await apiServer(routes, { corsOrigins: ['https://ops.example.com'] });
  const statusOf = async (method: string, headers: Record<string, string>) =>
    (await ask(method, '/it', { headers })).status;
  const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
  const foreign: readonly Record<string, string>[] = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'other' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: url },
    { Origin: 'https://evil.com' },
    { Origin: 'null' },
    { Origin: url.replace(/:\d+$/, ':1') },
    { Origin: `${url}.evil.com` },
    { Origin: 'https://ops.example.com.evil.com' },
    { Origin: 'http://ops.example.com' },
    { ...link, Origin: 'https://evil.com' },
    { ...link, 'Sec-Fetch-Dest': 'iframe' },
  ];
  const welcome: readonly Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'same-origin', Origin: url },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'none', Origin: 'chrome-extension://abcdefgh' },
    { Origin: url.replace('127.0.0.1', 'LOCALHOST') },
    { Origin: 'https://ops.example.com', 'Sec-Fetch-Site': 'cross-site' },
  ];

  for (const method of ['GET', 'POST']) {
    for (const headers of foreign)
      expect([method, headers, await statusOf(method, headers)]).toEqual([method, headers, 403]);
    for (const headers of welcome) {
      const Host = headers['Origin']?.includes('LOCALHOST')
        ? { Host: new URL(url).host.replace('127.0.0.1', 'localhost') }
        : {};
      expect([method, headers, await statusOf(method, { ...headers, ...Host })]).toEqual([method, headers, 200]);
    }
  }
  expect(await statusOf('GET', link)).toBe(200);
  expect(await statusOf('POST', link)).toBe(403);
});

test('without allowed origins a preflight request is rejected', async () => {
  const { ask } = await apiServer(routes);
  const preflight = { Origin: 'https://ops.example.com', 'Access-Control-Request-Method': 'POST' };

  const { status, headers } = await ask('OPTIONS', '/it', { headers: preflight });

  expect(status).toBe(403);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('an allowed origin can send preflight requests without a login and read all answers', async () => {
  const login = { token: 't', readOnlyToken: null, basic: null };
  const { ask } = await apiServer(routes, { login, corsOrigins: ['https://ops.example.com'] });
  const Origin = 'https://ops.example.com';

  const preflight = await ask('OPTIONS', '/it', { headers: { Origin, 'Access-Control-Request-Method': 'POST' } });
  const refused = await ask('POST', '/it', { headers: { Origin } });
  const letIn = await ask('POST', '/it', { headers: { Origin, Authorization: 'Bearer t' } });

  expect([preflight.status, refused.status, letIn.status]).toEqual([204, 401, 200]);
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': Origin,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
    'access-control-allow-headers': expect.stringContaining('Authorization'),
    vary: 'Origin',
  });
  for (const { headers } of [preflight, refused, letIn]) {
    expect(headers['access-control-allow-origin']).toBe(Origin);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  }
  expect((await ask('OPTIONS', '/it', { headers: { Authorization: 'Bearer t' } })).status).toBe(204);
});

test('wrong logins are delayed more and more, and the right one is always accepted', async () => {
  let now = 0;
  const login = { token: 'right', readOnlyToken: 'look', basic: null };
  const { ask } = await apiServer(routes, { login }, { now: () => now });
  const tried = async (token: string) => {
    const { status, headers } = await ask('GET', '/it', { headers: { Authorization: `Bearer ${token}` } });
    return headers['retry-after'] === undefined ? status : `${status} after ${headers['retry-after']} s`;
  };

  for (let i = 0; i < 6; i += 1) expect(await tried(`wrong-${i}`)).toBe(401);
  for (let i = 6; i < 50; i += 1) {
    expect(await tried(`wrong-${i}`)).toBe('429 after 1 s');
    expect(await tried('right')).toBe(200);
    expect(await tried('look')).toBe(200);
  }
  now += 1000;
  expect(await tried('wrong-50')).toBe(401);
  expect(await tried('wrong-51')).toBe('429 after 2 s');
  expect(await tried('right')).toBe(200);
  expect((await ask('GET', '/it')).status).toBe(401);
  // A right login of another client at the same address does not reset the limit.
  expect(await tried('wrong-52')).toBe('429 after 2 s');
  now += 2000;
  expect(await tried('wrong-53')).toBe(401);
  expect(await tried('wrong-54')).toBe('429 after 4 s');
});

test('X-Forwarded-For distinguishes the clients of a trusted proxy, and is ignored from others', async () => {
  const login = { token: 'right', readOnlyToken: null, basic: null };
  const guessing = async (trustedProxies: readonly string[]) => {
    const { ask } = await apiServer(routes, { login, trustedProxies }, { now: () => 0 });
    return async (guess: string, forwarded: string) => {
      const headers = { Authorization: `Bearer ${guess}`, 'X-Forwarded-For': forwarded };
      return (await ask('GET', '/it', { headers })).status;
    };
  };

  const behindProxy = await guessing(['127.0.0.0/8', '10.0.0.1']);
  for (let i = 0; i < 6; i += 1) expect(await behindProxy(`a${i}`, '203.0.113.7')).toBe(401);
  expect(await behindProxy('a6', '203.0.113.7')).toBe(429);
  expect(await behindProxy('b', '203.0.113.8')).toBe(401);
  // Entries that the client itself has written are further left.
  expect(await behindProxy('a7', '198.51.100.1, 203.0.113.7')).toBe(429);
  expect(await behindProxy('a8', '203.0.113.7, 10.0.0.1')).toBe(429);
  expect(await behindProxy('c', '203.0.113.7, 203.0.113.9')).toBe(401);

  const direct = await guessing([]);
  for (let i = 0; i < 6; i += 1) expect(await direct(`a${i}`, `203.0.113.${i}`)).toBe(401);
  expect(await direct('a6', '203.0.113.6')).toBe(429);
});

test('a program with an old token does not lock out others', async () => {
  const login = { token: 'right', readOnlyToken: null, basic: null };
  const { ask } = await apiServer(routes, { login });
  const tried = async (token: string) =>
    (await ask('GET', '/it', { headers: { Authorization: `Bearer ${token}` } })).status;

  for (let i = 0; i < 30; i += 1) expect(await tried('old')).toBe(401);

  expect(await tried('right')).toBe(200);
});

test('a too large body is rejected by its length header, or at the limit while it arrives', async () => {
  const { raw, address } = await apiServer(routes, {}, { limits: { bodyBytes: 1000, discardedBytes: 5000 } });
  const head = `POST /it HTTP/1.1\r\nHost: localhost:${address.port}\r\nContent-Type: application/json\r\n`;

  const expecting = await raw(`${head}Content-Length: 999999999\r\nExpect: 100-continue\r\n\r\n`);
  expect(expecting).toMatch(/^HTTP\/1\.1 413 .*\r\n(.*\r\n)*Connection: close/);
  const endless = await raw(
    `${head}Transfer-Encoding: chunked\r\n\r\n${'1000\r\n'}${'x'.repeat(4096)}\r\n${'1000\r\n'}${'x'.repeat(4096)}`,
  );
  expect(endless).toMatch(/^HTTP\/1\.1 413/);
});

test('"100 Continue" is sent only if the body will be accepted', async () => {
  const { raw, address } = await apiServer(routes);
  const head = `Host: localhost:${address.port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;

  expect(await raw(`POST /it HTTP/1.1\r\n${head}{}`)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
  expect(await raw(`POST /nothing HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1\.1 404/);
});

test('a client that is too slow gets 408', async () => {
  const limits = { headersMs: 100, requestMs: 200, checkMs: 20 };
  const { raw, address } = await apiServer(routes, {}, { limits });
  const host = `Host: localhost:${address.port}\r\n`;

  expect(await raw(`GET /it HTTP/1.1\r\n${host}X: `)).toMatch(/^HTTP\/1\.1 408/);
  const begun = `POST /it HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  expect(await raw(begun)).toMatch(/^HTTP\/1\.1 408/);
});

test('a complete request gets its response although the event loop was blocked for longer than its limit', async () => {
  const limits = { headersMs: 1500, requestMs: 2000, checkMs: 20 };
  const { address } = await apiServer(routes, {}, { limits });
  const host = `Host: localhost:${address.port}\r\n`;
  const post = `POST /it HTTP/1.1\r\n${host}Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n`;
  /** Sends the first parts, and the second ones right before the event loop is blocked. */
  const blocked = async (...requests: readonly (readonly [first: string, second: string])[]) => {
    const sockets = requests.map(() => connect(address.port, '127.0.0.1').setEncoding('latin1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const [at, [first]] of requests.entries()) sockets[at]?.write(first);
    await pause(40);
    // From here on, the timers of the server come before its sockets.
    await new Promise((resolve) => setImmediate(resolve));
    for (const [at, [, second]] of requests.entries()) sockets[at]?.write(second);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    return Promise.all(sockets.map(statusOf));
  };
  const statusOf = async (socket: Socket) => {
    let answer = '';
    for await (const text of socket) answer += text;
    return answer.split(' ')[1];
  };

  const get = `GET /it HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
  const statuses = await blocked(['', get], [`${post}{`, '}'], ['', `GET /it HTTP/1.1\r\n${host}X: `], [post, '{']);
  expect(statuses).toEqual(['200', '200', '408', '408']);
});

test('connections beyond the limit get 503, and a closed one makes room', async () => {
  const server = await apiServer(routes, {}, { limits: { connections: 3, refusedConnections: 2 } });
  const kept = await Promise.all([1, 2, 3].map(() => open(server)));

  const request = `POST /it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n${'x'.repeat(500_000)}`;
  expect(await server.raw(request)).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n(.*\r\n)*Retry-After: 1/);
  kept[0]?.destroy();

  await expect
    .poll(async () => (await server.ask('GET', '/it', { headers: { Connection: 'close' } })).status)
    .toBe(200);
});

test('thousands of simultaneous connections do not stop the server', async () => {
  const server = await apiServer(routes, {}, { limits: { connections: 50, refusedConnections: 50 } });
  const asked = server.ask('GET', '/it', { headers: { Connection: 'keep-alive' } });
  const sockets = Array.from({ length: 3000 }, () => connect(server.address.port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  for (const socket of sockets) socket.destroy();

  expect((await asked).status).toBe(200);
  await expect
    .poll(() =>
      server.ask('GET', '/it').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

test('the server does not listen on other addresses without a login', async () => {
  for (const host of ['0.0.0.0', '::', '::ffff:0.0.0.0']) {
    await expect(start({ host })).rejects.toThrow(`will not listen on "${host}" without a login`);
  }
  await expect(start({ host: 'no such host' })).rejects.toThrow('is not an address of this machine');
});

test('tokens and passwords on a public address need 16 characters', async () => {
  const none = { token: null, readOnlyToken: null, basic: null };
  const long = 'sixteen-letters!';
  for (const key of ['token', 'readOnlyToken'] as const) {
    const login = { ...none, token: long, [key]: long.slice(1) };
    await expect(start({ host: '0.0.0.0', login })).rejects.toThrow(
      `will not listen on "0.0.0.0" with a "${key}" of fewer than 16 characters: it could be guessed`,
    );
    await apiServer(routes, { login });
  }
  const basic = (password: string) => ({ ...none, basic: { username: 'me', password } });
  await expect(start({ host: '0.0.0.0', login: basic(long.slice(1)) })).rejects.toThrow(
    'will not listen on "0.0.0.0" with a "password" of fewer than 16 characters: it could be guessed',
  );
  await apiServer(routes, { login: basic('short') });
  await apiServer(routes, { host: '0.0.0.0', login: basic(long) });
});

test('on a public address the server warns about missing TLS and accepts only its own addresses', async () => {
  const token = 'sixteen-letters!';
  const login = { token, readOnlyToken: null, basic: null };
  const { ask, logged, address } = await apiServer(routes, { host: '0.0.0.0', login });
  const headers = { Authorization: `Bearer ${token}`, Host: `127.0.0.1:${address.port}` };

  expect((await ask('GET', '/it', { headers })).status).toBe(200);
  expect((await ask('GET', '/it', { headers: { ...headers, Host: `192.0.2.1:${address.port}` } })).status).toBe(421);
  expect(logged).toEqual(['logins and logs cross the network unencrypted: there is no TLS']);
});

test('a port in use is reported', async () => {
  const { address } = await apiServer(routes);

  await expect(start({ port: address.port })).rejects.toThrow(
    `cannot listen on 127.0.0.1, port ${address.port}: another program does`,
  );
});

test('the server supports TLS with a certificate and its key', async () => {
  const { ask, url, address } = await apiServer(routes, { tls: { cert: certificateFile, key: keyFile } });

  const { status } = await ask('GET', '/it', { headers: { Host: `localhost:${address.port}` } });

  expect([status, url]).toEqual([200, `https://127.0.0.1:${address.port}`]);
});

test('missing, invalid and mismatched TLS files are distinguished', async () => {
  await withDirectory(async (directory) => {
    const other = join(directory, 'other.pem');
    writeFileSync(other, 'no PEM');
    const begun = (cert: string, key: string) => start({ tls: { cert, key } });

    await expect(begun(join(directory, 'none'), keyFile)).rejects.toThrow(/cannot read the TLS certificate ".*none"/);
    await expect(begun(other, keyFile)).rejects.toThrow(/other\.pem" holds no certificate in PEM/);
    await expect(begun(certificateFile, other)).rejects.toThrow(/other\.pem" holds no key in PEM/);
    writeFileSync(other, readFileSync(strangeKeyFile));
    await expect(begun(certificateFile, other)).rejects.toThrow(
      /the key in ".*other\.pem" is not the one of the certificate/,
    );
  });
});

const keyFile = certificateFile.replace('certificate.pem', 'key.pem');
const strangeKeyFile = certificateFile.replace('certificate.pem', 'other-key.pem');

function route(method: Route['method'], access: Route['access']): Route {
  const body = method === 'GET' ? 'none' : 'json';
  return { method, path: '/it', access, body, errors: 'v1', handle: () => ({ status: 200, body: 'reached' }) };
}

async function start(settings: Partial<ListenSettings>, limits: Partial<Limits> = {}): Promise<void> {
  const server = await createServer({ routes, settings: { ...openSettings, ...settings }, log: () => {}, limits });
  onTestFinished(server.close);
}

async function open({ address }: ApiServer): Promise<Socket> {
  const socket = connect(address.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}
