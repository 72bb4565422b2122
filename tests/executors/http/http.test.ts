import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { executor } from '#executors/http/http.ts';
import { httpServer, type TestServer } from '../../support/http-server.ts';
import { failed, testAttempt } from '../attempt.ts';
import { answered, call } from './http-call.ts';

/** Answers every request the same way, without Node's own headers. */
function answering(status: number, body: string | Buffer, headers: Record<string, string> = {}): Promise<TestServer> {
  return httpServer((_request, response) => {
    response.sendDate = false;
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
  });
}

describe('an answer', () => {
  test('is printed with its status line, its headers and its body', async () => {
    const server = await answering(200, 'hello\n', { 'X-One': '1', 'x-two': '2' });
    expect(await call(`GET ${server.url}/a`)).toEqual({
      outcome: answered,
      stdout: 'HTTP/1.1 200 OK\nX-One: 1\nx-two: 2\nContent-Length: 6\nConnection: close\n\nhello\n',
      stderr: '',
      started: [null],
    });
  });

  test('is only its body with "silent", byte for byte', async () => {
    const server = await answering(200, 'no end of line');
    expect((await call(`GET ${server.url}`, { silent: true })).stdout).toBe('no end of line');
  });

  test('with "json" is an object that contains a JSON body unchanged', async () => {
    const server = await answering(200, '{"id": 12345678901234567890}\n', { 'x-a': 'b' });
    const { stdout } = await call(`GET ${server.url}`, { json: true });
    expect(stdout).toBe(`{
  "status_code": 200,
  "headers": {
    "X-A": [
      "b"
    ],
    "Content-Length": [
      "29"
    ],
    "Connection": [
      "close"
    ]
  },
  "body": {"id": 12345678901234567890}
}
`);
    expect((JSON.parse(stdout) as { headers: object }).headers).toHaveProperty('X-A', ['b']);
  });

  test('with "json" and "silent" has only its body, as a text if it is not JSON', async () => {
    const server = await answering(200, 'plain "text"');
    const { stdout } = await call(`GET ${server.url}`, { json: true, silent: true });
    expect(stdout).toBe('{\n  "body": "plain \\"text\\""\n}\n');
  });

  test.each([
    ['gzip', gzipSync('packed')],
    ['deflate', deflateSync('packed')],
    ['br', brotliCompressSync('packed')],
  ])('packed with %s is unpacked', async (encoding, body) => {
    const server = await answering(200, body, { 'content-encoding': encoding });
    expect((await call(`GET ${server.url}`, { silent: true })).stdout).toBe('packed');
    expect(server.received[0]?.headers['accept-encoding']).toContain(encoding);
  });

  test('is printed as it arrives', async () => {
    let finish = () => {};
    const server = await httpServer((_request, response) => {
      response.write('first\n');
      finish = () => response.end('last\n');
    });
    const world = testAttempt({ step: { command: `GET ${server.url}` } });
    const running = executor.run({ silent: true }, world.attempt);
    await expect.poll(world.stdout).toBe('first\n');
    finish();
    expect(await running).toEqual(answered);
    expect(world.stdout()).toBe('first\nlast\n');
  });

  test.each([404, 500, 304])('with the status %i fails the step, its body is printed', async (status) => {
    const server = await answering(status, status === 304 ? '' : 'the reason');
    const { outcome, stdout } = await call(`GET ${server.url}/x?a=1`, { silent: true });
    expect(stdout).toBe(status === 304 ? '' : 'the reason');
    expect(outcome).toEqual(
      failed('error', expect.stringMatching(new RegExp(`^GET ${server.url}/x\\?a=1: ${status}`)) as unknown as string),
    );
  });

  test('without a body ends after its headers', async () => {
    const server = await answering(204, '');
    expect((await call(`DELETE ${server.url}`)).stdout).toBe(
      'HTTP/1.1 204 No Content\nContent-Length: 0\nConnection: close\n\n',
    );
  });
});

describe('a request', () => {
  test('has method, query, headers and body of the settings', async () => {
    const server = await answering(200, '');
    const config = {
      headers: { 'X-Key': 'k', 'Content-Length': '999', Accept: 'text/plain' },
      query: { b: '2 & 3', c: ['4', '5'] },
      body: '{"a": 1}',
    };
    await call(`post ${server.url}/path?a=1#fragment`, config);
    expect(server.received).toEqual([
      {
        method: 'POST',
        url: '/path?a=1&b=2+%26+3&c=4&c=5',
        headers: {
          'user-agent': 'wf',
          accept: 'text/plain',
          'content-type': 'application/json',
          'x-key': 'k',
          'content-length': '8',
          'accept-encoding': expect.stringContaining('gzip') as unknown,
          host: `127.0.0.1:${server.port}`,
          connection: 'close',
        },
        body: '{"a": 1}',
      },
    ]);
  });

  test.each([
    ['GET %/a b', [], 'GET /a%20b'],
    ['  PUT   %/x  ', [], 'PUT /x'],
    ['%/alone', [], 'GET /alone'],
    ['"%/quoted"', [], 'GET /quoted'],
    ["GET '%/$X'", [], 'GET /$X'],
    ['GET "%/$X"', [], 'GET /one%20two'],
    ['$METHOD %/$X?q=${NONE:-d}', [], 'PATCH /one%20two?q=d'],
    ['DELETE', ['%/args'], 'DELETE /args'],
  ])('%s', async (command, args, expected) => {
    const server = await answering(200, '');
    const at = (text: string) => text.replace('%', server.url);
    const { outcome } = await call(
      at(command),
      {},
      {
        step: { args: args.map(at) },
        variables: { X: 'one two', METHOD: 'PATCH' },
      },
    );
    expect(outcome).toEqual(answered);
    expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([expected]);
  });

  test('can be a list, and args alone', async () => {
    const server = await answering(200, '');
    const { attempt } = testAttempt({ step: { command: ['HEAD', `${server.url}/a`] } });
    await executor.run({}, attempt);
    const other = testAttempt({ step: { command: null, args: ['OPTIONS', `${server.url}/b`] } });
    await executor.run({}, other.attempt);
    expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual(['HEAD /a', 'OPTIONS /b']);
  });

  test('a POST without a body has a "Content-Length" of 0', async () => {
    const server = await answering(200, '');
    await call(`POST ${server.url}`, { body: '' });
    expect(server.received[0]?.headers).toMatchObject({ 'content-length': '0' });
    expect(server.received[0]?.headers).not.toHaveProperty('content-type');
  });

  test('credentials in the URL are sent as a header and not shown', async () => {
    const server = await answering(401, '');
    const { outcome } = await call(`GET http://me:p%40ss%25@127.0.0.1:${server.port}/`);
    expect(server.received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss%').toString('base64')}`);
    expect(outcome).toEqual(failed('error', `GET ${server.url}/: 401 Unauthorized`));
  });
});

describe('variables', () => {
  const hostile = 'say "hi"\nback\\slash';

  test('are replaced in every setting of config, and stay data in a body of JSON', async () => {
    const server = await answering(200, '');
    const config = {
      timeout: '$T',
      headers: { Authorization: 'Bearer ${TOKEN}' },
      query: { q: '$X' },
      body: '{"text": "$X", "n": $N, "price": "\\\\$5"}',
    };
    const { outcome } = await call(`POST ${server.url}`, config, {
      variables: { T: '5', TOKEN: 't', X: hostile, N: '7' },
    });
    expect(outcome).toEqual(answered);
    const [received] = server.received;
    expect(received?.headers.authorization).toBe('Bearer t');
    expect(new URLSearchParams(received?.url.slice(2)).get('q')).toBe(hostile);
    expect(JSON.parse(received?.body ?? '')).toEqual({ text: hostile, n: 7, price: '$5' });
  });

  test('are inserted into any other body unchanged', async () => {
    const server = await answering(200, '');
    await call(`POST ${server.url}`, { body: '<a b="$X"/>' }, { variables: { X: '"' } });
    await call(
      `POST ${server.url}`,
      { body: '{$X}', headers: { 'content-type': 'text/x' } },
      { variables: { X: '"\n"' } },
    );
    expect(server.received.map(({ body }) => body)).toEqual(['<a b="""/>', '{"\n"}']);
  });

  test('in a script do not break its syntax', async () => {
    const server = await answering(200, '');
    const script = '{"timeout": $T, "headers": {"X-A": "${A}"}, "query": {"q": "$X"}, "body": {"text": "$X"}}';
    await call(`POST ${server.url}`, {}, { step: { script }, variables: { T: '5', A: 'a', X: hostile } });
    const [received] = server.received;
    expect(received?.headers).toMatchObject({ 'x-a': 'a', 'content-type': 'application/json' });
    expect(new URLSearchParams(received?.url.slice(2)).get('q')).toBe(hostile);
    expect(JSON.parse(received?.body ?? '')).toEqual({ text: hostile });
  });

  test('can hold a whole script', async () => {
    const server = await answering(200, 'x');
    const { stdout } = await call(
      `GET ${server.url}`,
      {},
      { step: { script: '$S' }, variables: { S: '{"silent": true}' } },
    );
    expect(stdout).toBe('x');
  });
});

describe('a script', () => {
  test('replaces settings of config, whatever the case of its keys', async () => {
    const server = await answering(200, 'x');
    const config = { silent: false, headers: { 'x-config': '1' }, query: { q: 'config' } };
    const script = '{"Silent": true, "skip_tls_verify": false, "HEADERS": {"x-script": 1}, "body": null}';
    const { stdout } = await call(`GET ${server.url}`, config, { step: { script } });
    expect(stdout).toBe('x');
    expect(server.received[0]?.url).toBe('/?q=config');
    expect(server.received[0]?.headers).toMatchObject({ 'x-script': '1' });
    expect(server.received[0]?.headers).not.toHaveProperty('x-config');
  });

  test.each([
    ['{"a": secret}', "the script is not JSON once its variables are replaced: Unexpected token 's'"],
    [
      '{"timeout": 5',
      "the script is not JSON once its variables are replaced: Expected ',' or '}' after property value",
    ],
    ['[1]', 'the script must be a JSON object with the settings of the request'],
    [
      '{"header": {}}',
      'unknown key "header" in the script; known keys: timeout, headers, query, body, silent, json, skipTLSVerify, debug',
    ],
    ['{"timeout": "soon"}', '"timeout" must be a number of seconds, not "soon"'],
    ['{"timeout": -1}', '"timeout" must be a number of seconds, not -1'],
    ['{"silent": 1}', '"silent" must be true or false, not 1'],
    ['{"headers": ["a"]}', '"headers" must be a map of names and values'],
    ['{"headers": {"a": {}}}', '"headers.a" must be a text'],
  ])('%s is rejected', async (script, message) => {
    const { outcome, started } = await call('GET http://127.0.0.1:1', {}, { step: { script } });
    expect({ outcome, started }).toEqual({ outcome: failed('error', message), started: [] });
  });
});

describe('an invalid request is rejected before it is sent', () => {
  test.each([
    ['GET', 'no URL after "GET": write "command: METHOD url"'],
    ['', 'the step has no URL: write "command: METHOD url"'],
    ['GET example.com/a', '"example.com/a" is not a URL such as https://example.com/path'],
    ['GET ftp://u:p@h/a', '"ftp://***@h/a" is neither http nor https'],
    ['GET http://h/a?token=t$LINE', '"http://h/a?token=***" contains a line break'],
    ['G,T http://h/', '"G,T" is not a method such as GET or POST'],
    ['CONNECT http://h/', '"CONNECT" is not a method such as GET or POST'],
  ])('%s', async (command, message) => {
    const { outcome, started } = await call(command, {}, { variables: { LINE: 'a\r\nb' } });
    expect({ outcome, started }).toEqual({
      outcome: failed('error', expect.stringContaining(message) as unknown as string),
      started: [],
    });
  });

  test.each([
    [{ 'X-A': 'a$LINE' }, 'header "X-A" contains a line break that is not allowed in headers'],
    [{ 'X A': 'a' }, 'header "X A" contains a character that is not allowed in headers'],
    [{ 'X-A': '\u{1f600}' }, 'header "X-A" contains a character that is not allowed in headers'],
  ])('headers %j', async (headers, message) => {
    const server = await answering(200, '');
    const { outcome } = await call(`GET ${server.url}`, { headers }, { variables: { LINE: '\r\nX-B: b' } });
    expect(outcome).toEqual(failed('error', message));
    expect(server.received).toEqual([]);
  });

  test('a HEAD with a body', async () => {
    const { outcome } = await call('HEAD http://127.0.0.1:1', { body: 'x' });
    expect(outcome).toEqual(failed('error', 'a HEAD request cannot have a body'));
  });
});

test('"debug" prints the request without its secrets', async () => {
  const server = await answering(200, '');
  const { stderr } = await call(`POST http://u:secret@127.0.0.1:${server.port}/a`, {
    debug: true,
    headers: { Authorization: 'Bearer secret', 'X-Api-Key': 'secret', 'X-Plain': 'shown' },
    query: { access_token: 'secret', page: '2' },
    body: 'secret',
  });
  expect(stderr).toBe(`> POST ${server.url}/a?access_token=***&page=2
> user-agent: wf
> accept: */*
> Authorization: ***
> X-Api-Key: ***
> X-Plain: shown
> (6 bytes of body)
`);
});
