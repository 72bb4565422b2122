import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { executor } from '#executors/http/http.ts';
import { nextHop } from '#executors/http/http-request.ts';
import {
  certificateFile,
  closedPort,
  httpServer,
  httpsServer,
  proxyServer,
  tcpServer,
} from '../../support/http-server.ts';
import { failed, testAttempt, until } from '../attempt.ts';
import { answered, call } from './http-call.ts';

/** A small site: `/to/<status>/<location>` redirects, everything else answers hello. */
function site() {
  return httpServer(({ url }, response) => {
    const [, status, place = ''] = /^\/to\/(\d+)\/(.*)$/.exec(url) ?? [];
    if (status === undefined) response.end('hello');
    else response.writeHead(Number(status), { location: decodeURIComponent(place) }).end('elsewhere');
  });
}

function to(status: number, place: string): string {
  return `/to/${status}/${encodeURIComponent(place)}`;
}

describe('a redirect', () => {
  test.each([
    ['GET', 301, 'GET', ''],
    ['POST', 301, 'GET', ''],
    ['POST', 302, 'GET', ''],
    ['PUT', 302, 'PUT', 'x'],
    ['PUT', 303, 'GET', ''],
    ['HEAD', 303, 'HEAD', ''],
    ['POST', 307, 'POST', 'x'],
    ['DELETE', 308, 'DELETE', 'x'],
  ])('%s and %i is followed with %s', async (method, status, then, body) => {
    const server = await site();
    const { outcome } = await call(`${method} ${server.url}${to(status, '/there?a=1')}`, {
      body: method === 'HEAD' || method === 'GET' ? '' : 'x',
      headers: { authorization: 'secret', 'content-type': 'text/x' },
    });
    expect(outcome).toEqual(answered);
    const last = server.received[1];
    expect([last?.method, last?.url, last?.body, last?.headers.authorization]).toEqual([
      then,
      '/there?a=1',
      body,
      'secret',
    ]);
    expect(last?.headers['content-type']).toBe(body === '' && then !== method ? undefined : 'text/x');
  });

  test('to another origin drops credentials for the first', async () => {
    const [first, second] = [await site(), await site()];
    const { outcome } = await call(`GET http://u:p@127.0.0.1:${first.port}${to(302, `${second.url}/x`)}`, {
      headers: { Cookie: 'a=b', Host: 'first.example', 'X-Kept': '1' },
    });
    expect(outcome).toEqual(answered);
    expect(first.received[0]?.headers).toMatchObject({ cookie: 'a=b', host: 'first.example' });
    const { authorization, cookie, host, 'x-kept': kept } = second.received[0]?.headers ?? {};
    expect({ authorization, cookie, host, kept }).toEqual({
      authorization: undefined,
      cookie: undefined,
      host: `127.0.0.1:${second.port}`,
      kept: '1',
    });
  });

  test('to another origin drops headers with a credential, by their name or by a secret value', async () => {
    const [first, second] = [await site(), await site()];
    const credentials = {
      'X-Api-Key': '1',
      'Private-Token': '2',
      'X-Vault-Token': '3',
      'X-Auth-User': '4',
      'X-Client-Secret': '5',
      'X-Password': '6',
      'X-Session-Id': '7',
      'X-Hub-Signature': '8',
      'X-Custom': 'is s3cr3t-value here',
    };
    const kept = { 'X-Trace': '1', 'Accept-Language': 'de' };
    const names = (headers: object | undefined) => Object.keys(headers ?? {});
    const lower = (headers: object) => Object.keys(headers).map((name) => name.toLowerCase());
    const config = { headers: { ...credentials, ...kept } };
    const secret = { secrets: ['s3cr3t-value'] };

    await call(`GET ${first.url}${to(302, `${second.url}/x`)}`, config, secret);
    expect(names(second.received[0]?.headers)).toEqual(expect.arrayContaining(lower(kept)));
    expect(names(second.received[0]?.headers).filter((name) => lower(credentials).includes(name))).toEqual([]);
    // Another name of the same machine counts as another host.
    await call(`GET ${first.url}${to(302, `http://localhost:${first.port}/y`)}`, config, secret);
    expect(names(first.received[2]?.headers).filter((name) => lower(credentials).includes(name))).toEqual([]);
    await call(`GET ${first.url}${to(302, '/z')}`, config, secret);
    expect(names(first.received[4]?.headers)).toEqual(expect.arrayContaining(lower(credentials)));
  });

  test.each([
    ['http://h/a', 'https://h/b', true],
    ['http://h:8080/a', 'https://h:8080/b', true],
    ['http://h:8080/a', 'https://h/b', false],
    ['http://h:8080/a', 'https://h:8443/b', false],
    ['https://h/a', 'http://h/b', false],
    ['http://h/a', 'https://other.h/b', false],
    ['https://h/a', 'https://h:444/b', false],
  ])('from %s to %s keeps credentials: %j', (from, location, isKept) => {
    const hop = { method: 'GET', url: new URL(from), headers: [['X-Api-Key', 'k']] as const, body: '' };
    const head = { httpVersion: '1.1', status: 302, statusText: '', headers: [['location', location]] as const };
    expect(nextHop(hop, head, () => false)?.headers).toEqual(isKept ? [['X-Api-Key', 'k']] : []);
  });

  test('from https to http on the same host is to another origin', async () => {
    const plain = await site();
    const secure = await httpsServer((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${plain.port}/x` }).end(),
    );
    const config = { skipTLSVerify: true, headers: { authorization: 'secret' } };
    expect((await call(`GET ${secure.url}`, config)).outcome).toEqual(answered);
    expect(plain.received[0]?.headers.authorization).toBeUndefined();
  });

  test.each([
    ['ftp://u:p@h/x', 'it redirects to "ftp://***@h/x", which is neither http nor https'],
    ['file:///etc/passwd', 'it redirects to "file:///etc/passwd", which is neither http nor https'],
    ['http://', 'it redirects to "http://", which is neither http nor https'],
  ])('to %s is not followed', async (place, message) => {
    const server = await site();
    const { outcome } = await call(`GET ${server.url}${to(302, place)}`);
    expect(outcome).toEqual(failed('error', expect.stringContaining(message) as unknown as string));
  });

  test('that never ends is abandoned after ten', async () => {
    const server = await httpServer((_request, response) => response.writeHead(302, { location: '/' }).end());
    const { outcome } = await call(`GET ${server.url}`);
    expect(outcome).toEqual(failed('error', `GET ${server.url}/: more than 10 redirects`));
    expect(server.received).toHaveLength(11);
  });

  test('without a location is the answer', async () => {
    const server = await httpServer((_request, response) => response.writeHead(302).end());
    expect((await call(`GET ${server.url}`)).outcome).toEqual(failed('error', `GET ${server.url}/: 302 Found`));
  });
});

describe('the time limit covers the whole exchange', () => {
  const late = (url: string) => failed('error', `GET ${url}/: no complete response within 0.2 seconds`);

  test('a server that never responds', async () => {
    const server = await httpServer(() => {});
    expect((await call(`GET ${server.url}`, { timeout: 0.2 })).outcome).toEqual(late(server.url));
    await until(() => server.connections() === 0);
  });

  test('a body that never ends, though data keeps arriving', async () => {
    const server = await httpServer((_request, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const { outcome, stdout } = await call(`GET ${server.url}`, { timeout: '0.2', silent: true });
    expect(outcome).toEqual(late(server.url));
    expect(stdout).toMatch(/^\.+$/);
  });

  test('redirects that are each fast enough', async () => {
    const server = await httpServer((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 50);
    });
    expect((await call(`GET ${server.url}`, { timeout: 0.2 })).outcome).toEqual(late(server.url));
  });
});

describe('a stop', () => {
  test.each(['stop', 'kill'] as const)('ends a request at once (%s) and leaves no connection open', async (how) => {
    const server = await httpServer((_request, response) => response.write('begun'));
    const world = testAttempt({ step: { command: `GET ${server.url}` } });
    const running = executor.run({ silent: true }, world.attempt);
    await until(() => world.stdout() === 'begun');
    world[how]();
    expect(await running).toEqual({ status: 'canceled', message: '', exitCode: null, signal: null });
    await until(() => server.connections() === 0);
  });

  test('before the start sends nothing', async () => {
    const server = await site();
    const world = testAttempt({ step: { command: `GET ${server.url}` } });
    world.stop();
    expect(await executor.run({}, world.attempt)).toMatchObject({ status: 'canceled' });
    expect({ received: server.received, started: world.started }).toEqual({ received: [], started: [] });
  });

  test('while a proxy is connecting leaves no connection open', async () => {
    let connections = 0;
    const { port } = await tcpServer((socket) => {
      connections++;
      socket.on('close', () => connections--);
      socket.resume();
    });
    const variables = { https_proxy: `http://127.0.0.1:${port}` };
    const world = testAttempt({ step: { command: 'GET https://example.com/' }, variables });
    const running = executor.run({}, world.attempt);
    await until(() => connections === 1);
    world.stop();
    expect(await running).toMatchObject({ status: 'canceled' });
    await until(() => connections === 0);
  });
});

describe('a body', () => {
  const tooLarge = (url: string) => failed('error', `GET ${url}/: the body is larger than the limit of 10 MiB`);

  test('of 10 MiB is accepted, one byte more is not', async () => {
    const server = await httpServer(({ url }, response) =>
      response.end(Buffer.alloc(10 * 1024 * 1024 + Number(url.slice(1)), 97)),
    );
    const whole = await call(`GET ${server.url}/0`, { silent: true });
    expect([whole.outcome, whole.stdout.length]).toEqual([answered, 10 * 1024 * 1024]);
    const { outcome } = await call(`GET ${server.url}/1`, { silent: true });
    expect(outcome).toEqual(failed('error', `GET ${server.url}/1: the body is larger than the limit of 10 MiB`));
  });

  test('is measured after decompression', async () => {
    const packed = gzipSync(Buffer.alloc(11 * 1024 * 1024));
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
    );
    expect((await call(`GET ${server.url}`)).outcome).toEqual(tooLarge(server.url));
  });

  test('that is not text stays the same byte for byte', async () => {
    const bytes = randomBytes(1000);
    const server = await httpServer((_request, response) => response.end(bytes));
    const world = testAttempt({ step: { command: `GET ${server.url}` } });
    const written: Buffer[] = [];
    const attempt = {
      ...world.attempt,
      write: (_stream: string, chunk: string | Uint8Array) => void written.push(Buffer.from(chunk)),
    };
    await executor.run({ silent: true }, attempt);
    expect(Buffer.concat(written).equals(bytes)).toBe(true);
  });
});

describe('errors are reported in one line', () => {
  test('a closed port', async () => {
    const port = await closedPort();
    const { outcome, started } = await call(`GET http://u:p@127.0.0.1:${port}/x?token=t`);
    expect({ outcome, started }).toEqual({
      outcome: failed('error', `GET http://127.0.0.1:${port}/x?token=***: connection refused`),
      started: [null],
    });
  });

  test('a name whose addresses are all closed', async () => {
    const port = await closedPort();
    const { outcome } = await call(`GET http://localhost:${port}/`);
    expect(outcome).toEqual(failed('error', `GET http://localhost:${port}/: connection refused`));
  });

  test('a host that does not exist', async () => {
    const { outcome } = await call('GET http://no-such-host.invalid/');
    expect(outcome).toEqual(
      failed(
        'error',
        expect.stringMatching(
          /^GET http:\/\/no-such-host\.invalid\/: (unknown host "no-such-host\.invalid"|its name cannot be resolved: no name server responds)$/,
        ) as unknown as string,
      ),
    );
  });

  test.each<[string, string, string]>([
    ['a closed connection', '', 'the connection was closed before the response was complete'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-', 'the connection was closed before the response was complete'],
    [
      'half a body',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
      'the connection was closed before the response was complete',
    ],
    [
      'half a chunked body',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf',
      'the connection was closed before the response was complete',
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'the response is not HTTP: Expected HTTP/'],
    [
      'a bad chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
      'the response is not HTTP: Invalid character in chunk size',
    ],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'the response is not HTTP: ',
    ],
    [
      'long headers',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      'the headers of the response are larger than 16 KiB',
    ],
    [
      'a body that is no gzip',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope',
      'the body cannot be decompressed: incorrect header check',
    ],
    [
      'a body that is no brotli',
      'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nnope',
      'the body cannot be decompressed: ',
    ],
  ])('%s', async (_name, answer, message) => {
    const server = await tcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answer));
    });
    const { outcome } = await call(`GET ${server.url}`);
    expect(outcome).toEqual(
      failed('error', expect.stringMatching(new RegExp(`^GET ${server.url}/: ${message}[^\n]*$`)) as unknown as string),
    );
  });

  test('a connection that is reset', async () => {
    const server = await tcpServer((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    const { outcome } = await call(`POST ${server.url}`, { body: 'x' });
    expect(outcome).toEqual(
      failed('error', `POST ${server.url}/: the connection was closed before the response was complete`),
    );
  });

  test('a truncated gzip', async () => {
    const packed = gzipSync(randomBytes(5000)).subarray(0, 3000);
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
    );
    const { outcome } = await call(`GET ${server.url}`);
    expect(outcome).toEqual(
      failed('error', `GET ${server.url}/: the body cannot be decompressed: unexpected end of file`),
    );
  });
});

describe('TLS', () => {
  const hello = () => httpsServer((_request, response) => response.end('hello'));

  test('an untrusted certificate is rejected, with instructions', async () => {
    const server = await hello();
    const { outcome } = await call(`GET ${server.url}`);
    expect(outcome).toEqual(
      failed(
        'error',
        `GET ${server.url}/: its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT); set NODE_EXTRA_CA_CERTS to a file with the certificate to trust, or set skipTLSVerify to accept any`,
      ),
    );
    expect(server.received).toEqual([]);
  });

  test('"skipTLSVerify" accepts it', async () => {
    const server = await hello();
    expect((await call(`GET ${server.url}`, { skipTLSVerify: true })).outcome).toEqual(answered);
  });

  test.each([
    ['TLSv1.3', 'the server requires a client certificate; an http step has none: '],
    [
      'TLSv1.2',
      'the server refused the TLS connection (handshake failure); if it requires a client certificate, an http step has none: ',
    ],
  ] as const)(
    'a server that requires a client certificate is reported, with instructions: %s',
    async (version, why) => {
      const demands = { requestCert: true, rejectUnauthorized: true, minVersion: version, maxVersion: version };
      const server = await httpsServer((_request, response) => response.end('hello'), demands);
      const { outcome } = await call(`GET ${server.url}`, { skipTLSVerify: true });
      const message = `GET ${server.url}/: ${why}use a command step with curl --cert FILE --key FILE`;
      expect(outcome).toEqual(failed('error', message));
      expect(server.received).toEqual([]);
    },
  );

  test('NODE_EXTRA_CA_CERTS of the step makes it trusted', async () => {
    const server = await hello();
    const variables = { NODE_EXTRA_CA_CERTS: certificateFile };
    expect((await call(`GET ${server.url}`, {}, { variables })).outcome).toEqual(answered);
    const { outcome } = await call(`GET ${server.url}`, {}, { variables: { NODE_EXTRA_CA_CERTS: '/no/such/file' } });
    expect(outcome).toEqual(
      failed('error', expect.stringContaining('NODE_EXTRA_CA_CERTS cannot be read: ENOENT') as unknown as string),
    );
  });

  test('a certificate for another host is rejected', async () => {
    const server = await hello();
    const proxy = await proxyServer({ leadsTo: server.port });
    const variables = { NODE_EXTRA_CA_CERTS: certificateFile, https_proxy: proxy.url };
    const { outcome } = await call('GET https://other.example/', {}, { variables });
    expect(outcome).toEqual(
      failed(
        'error',
        `GET https://other.example/: its certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID); set skipTLSVerify to accept any (through the proxy ${proxy.url}/)`,
      ),
    );
  });

  test('a server without TLS is distinguished from one with a bad certificate', async () => {
    const server = await site();
    const { outcome } = await call(`GET https://127.0.0.1:${server.port}/`);
    expect(outcome).toEqual(
      failed(
        'error',
        `GET https://127.0.0.1:${server.port}/: the server does not speak TLS on this port; is it http instead of https?`,
      ),
    );
  });
});

describe('a proxy', () => {
  test('is asked for the whole URL without encryption', async () => {
    const [server, proxy] = [await site(), await proxyServer()];
    const variables = { HTTP_PROXY: proxy.url };
    const { outcome, stdout } = await call(`POST ${server.url}/a?b=1`, { silent: true, body: 'x' }, { variables });
    expect({ outcome, stdout, asked: proxy.asked }).toEqual({
      outcome: answered,
      stdout: 'hello',
      asked: [`POST ${server.url}/a?b=1`],
    });
    expect(server.received[0]).toMatchObject({ body: 'x', headers: { host: `127.0.0.1:${server.port}` } });
  });

  test('is asked for a connection with encryption, and the certificate is still verified', async () => {
    const server = await httpsServer((_request, response) => response.end('hello'));
    const proxy = await proxyServer();
    const variables = { https_proxy: `127.0.0.1:${proxy.port}` };
    const { outcome } = await call(`GET ${server.url}/a`, {}, { variables });
    expect(outcome).toMatchObject({ message: expect.stringContaining('self-signed') as unknown });
    const trusting = { ...variables, NODE_EXTRA_CA_CERTS: certificateFile };
    expect((await call(`GET ${server.url}/a`, {}, { variables: trusting })).outcome).toEqual(answered);
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${server.port}`, `CONNECT 127.0.0.1:${server.port}`]);
  });

  test('gets the login of its URL, which is not shown, and which the server does not get', async () => {
    const secure = await httpsServer((_request, response) => response.end('hello'));
    const [server, proxy] = [await site(), await proxyServer({ login: 'me:p@ss' })];
    const login = `http://me:p%40ss@127.0.0.1:${proxy.port}`;
    const config = { debug: true, silent: true, skipTLSVerify: true };
    const variables = { http_proxy: login, https_proxy: login };
    const plain = await call(`GET ${server.url}/`, config, { variables });
    const tunnel = await call(`GET ${secure.url}/`, config, { variables });
    expect([plain.outcome, tunnel.outcome]).toEqual([answered, answered]);
    expect(plain.stderr.split('\n')[0]).toBe(
      `> GET ${server.url}/ (through the proxy http://***@127.0.0.1:${proxy.port}/)`,
    );
    expect([server, secure].map(({ received }) => received[0]?.headers['proxy-authorization'])).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('that rejects a request is named in the error, instead of the server', async () => {
    const secure = await httpsServer((_request, response) => response.end('hello'));
    const proxy = await proxyServer({ login: 'me:secret' });
    const { outcome } = await call(
      `GET ${secure.url}/`,
      {},
      { variables: { HTTPS_PROXY: `http://me:wrong@127.0.0.1:${proxy.port}` } },
    );
    expect(outcome).toEqual(
      failed(
        'error',
        `GET ${secure.url}/: the proxy http://***@127.0.0.1:${proxy.port}/ refuses: 407 Proxy Authentication Required`,
      ),
    );
  });

  test.each(['http', 'https'])('that is unreachable is reported (%s)', async (scheme) => {
    const port = await closedPort();
    const variables = { [`${scheme}_proxy`]: `http://127.0.0.1:${port}` };
    const { outcome } = await call(`GET ${scheme}://example.com/`, {}, { variables });
    expect(outcome).toEqual(
      failed('error', `GET ${scheme}://example.com/: connection refused (through the proxy http://127.0.0.1:${port}/)`),
    );
  });

  test('can use TLS, and then needs a valid certificate too', async () => {
    const secure = await httpsServer((_request, response) => response.end('hello'));
    const [server, proxy] = [await site(), await proxyServer({ tls: true })];
    const variables = { http_proxy: proxy.url, https_proxy: proxy.url };
    const trusting = { ...variables, NODE_EXTRA_CA_CERTS: certificateFile };
    for (const { url } of [server, secure]) {
      const { outcome } = await call(`GET ${url}/`, { skipTLSVerify: true }, { variables });
      expect(outcome).toMatchObject({ message: expect.stringContaining('self-signed') as unknown });
      expect((await call(`GET ${url}/`, {}, { variables: trusting })).outcome).toEqual(answered);
    }
    expect(proxy.asked).toEqual([`GET ${server.url}/`, `CONNECT 127.0.0.1:${secure.port}`]);
  });

  test('with an invalid URL is rejected', async () => {
    const { outcome } = await call('GET http://h/', {}, { variables: { http_proxy: 'socks5://u:p@h' } });
    expect(outcome).toEqual(
      failed('error', 'GET http://h/: the proxy "socks5://***@h" is not a URL that begins with http:// or https://'),
    );
  });

  test('is not asked for hosts of NO_PROXY, and each redirect is checked again', async () => {
    const [first, second, proxy] = [await site(), await site(), await proxyServer()];
    const variables = { http_proxy: proxy.url, no_proxy: `example.com, 127.0.0.1:${first.port}` };
    const { outcome } = await call(`GET ${first.url}${to(302, `${second.url}/x`)}`, {}, { variables });
    expect(outcome).toEqual(answered);
    expect(proxy.asked).toEqual([`GET ${second.url}/x`]);
  });
});
