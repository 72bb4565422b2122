import { once } from 'node:events';
import { connect } from 'node:net';
import type { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { entityTag } from '#server/reply/send.ts';
import type { ApiRequest, Reply, Route } from '#server/route.ts';
import { WfError } from '#system/errors.ts';
import { apiServer, jsonOf } from '../support/api-server.ts';

test('an answer has its length, JSON as its default type, and restrictive headers for browsers', async () => {
  const { ask } = await apiServer([route(() => ({ status: 200, body: '{"ü":1}' }))]);

  const { status, headers, body } = await ask('GET', '/it');

  expect({ status, body }).toEqual({ status: 200, body: '{"ü":1}' });
  expect(headers).toMatchObject({
    'content-length': '8',
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  });
  expect(headers).not.toHaveProperty('access-control-allow-origin');
  expect(headers).not.toHaveProperty('x-powered-by');
});

test('headers of a route override those of the server', async () => {
  const { ask } = await apiServer([
    route(() => ({ status: 201, headers: { 'content-type': 'text/html', Location: '/x' }, body: '<p>' })),
  ]);

  const { status, headers } = await ask('GET', '/it');

  expect(status).toBe(201);
  expect(headers).toMatchObject({ 'content-type': 'text/html', location: '/x' });
});

test('a handler receives the names, the query, the headers and the body', async () => {
  const { ask } = await apiServer([
    route(({ params, query, headers, body }) => json({ params, query: [...query], own: headers['x-own'], body }), {
      method: 'POST',
      path: '/{one}/{two}',
      body: 'form-or-json',
    }),
  ]);

  const answer = await ask('POST', '/a%2Fb/c?x=1&x=%26+2', { headers: { 'X-Own': 'yes' }, body: { k: ['v'] } });

  expect(jsonOf(answer)).toEqual({
    params: { one: 'a/b', two: 'c' },
    query: [
      ['x', '1'],
      ['x', '& 2'],
    ],
    own: 'yes',
    body: { k: ['v'] },
  });
});

test('a query with invalid encoding is rejected', async () => {
  const { ask } = await apiServer([route(() => json({}))]);

  for (const query of ['x=%', 'x=%zz', '%ff=1', 'x=1&y=%c3']) {
    expect([query, (await ask('GET', `/it?${query}`)).status]).toEqual([query, 400]);
  }
  expect((await ask('GET', '/it?x=%25&y=100%2525&=&&')).status).toBe(200);
});

test('HEAD answers like GET, without the body', async () => {
  const { ask } = await apiServer([route(() => ({ status: 200, body: '12345' }))]);

  const { status, headers, body } = await ask('HEAD', '/it');

  expect({ status, length: headers['content-length'], body }).toEqual({ status: 200, length: '5', body: '' });
});

test('OPTIONS returns the methods of a path', async () => {
  const { ask } = await apiServer([route(() => json({})), route(() => json({}), { method: 'DELETE' })]);

  const { status, headers } = await ask('OPTIONS', '/it');

  expect([status, headers.allow]).toEqual([204, 'DELETE, GET, HEAD, OPTIONS']);
});

test('unchanged content is answered with 304', async () => {
  const body = Buffer.from('[]');
  const { ask } = await apiServer([route(() => ({ status: 200, headers: { ETag: entityTag(body) }, body }))]);

  const first = await ask('GET', '/it');
  const second = await ask('GET', '/it', { headers: { 'If-None-Match': `"other", ${first.headers.etag}` } });
  const changed = await ask('GET', '/it', { headers: { 'If-None-Match': '"other"' } });

  expect([first.status, second.status, second.body, changed.status]).toEqual([200, 304, '', 200]);
});

test.each([
  ['gzip', 'gzip'],
  ['gzip, br', 'br'],
  ['gzip;q=1, br;q=0.5', 'gzip'],
  ['*', 'br'],
  ['br;q=0, gzip;q=0', undefined],
  ['gzip;q=0.5, identity', undefined],
  ['', undefined],
])('a long answer to "Accept-Encoding: %s" has the encoding %s', async (accepted, encoding) => {
  const text = JSON.stringify('long '.repeat(1000));
  const { ask } = await apiServer([
    route(() => ({ status: 200, headers: { ETag: '"tag"' }, body: Buffer.from(text) })),
    route(() => json({ short: true }), { path: '/short' }),
    route(() => json(text), { path: '/api/v2/session' }),
    route(() => ({ status: 206, headers: { 'Accept-Ranges': 'bytes' }, body: text }), { path: '/range' }),
  ]);
  const headers = { 'Accept-Encoding': accepted };
  const { headers: sent } = await ask('GET', '/it', { headers });
  const head = await ask('HEAD', '/it', { headers });

  expect([sent['content-encoding'], sent.vary, sent.etag]).toEqual([
    encoding,
    'Accept-Encoding',
    encoding === undefined ? '"tag"' : 'W/"tag"',
  ]);
  expect(Number(sent['content-length']) < 1000).toBe(encoding !== undefined);
  expect(head.headers['content-length']).toBe(sent['content-length']);
  const known = { ...headers, 'If-None-Match': sent.etag ?? '' };
  expect((await ask('GET', '/it', { headers: known })).status).toBe(304);
  for (const path of ['/short', '/api/v2/session', '/range'])
    expect((await ask('GET', path, { headers })).headers['content-encoding']).toBe(undefined);
});

test('each kind of error has its status, and each part of the API its format', async () => {
  const failing = (errors: Route['errors']) =>
    route(
      ({ query }) => {
        throw new WfError(query.get('code') as 'usage', 'no', { help: 'try this' });
      },
      { errors, path: `/${errors}` },
    );
  const { ask } = await apiServer([failing('v1'), failing('problem')]);
  const statuses = async (errors: string) =>
    Promise.all(
      [
        'usage',
        'not-found',
        'invalid-workflow',
        'run-exists',
        'conflict',
        'run-active',
        'busy',
        'storage',
        'not-built',
      ].map(async (code) => (await ask('GET', `/${errors}?code=${code}`)).status),
    );

  expect(await statuses('v1')).toEqual([400, 404, 422, 409, 409, 400, 429, 500, 501]);
  expect(await statuses('problem')).toEqual([400, 404, 422, 409, 409, 409, 429, 500, 501]);
  expect(jsonOf(await ask('GET', '/v1?code=usage'))).toEqual({ message: 'no', detailedMessage: 'try this' });
  const problem = await ask('GET', '/problem?code=busy');
  expect(problem.headers).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'retry-after': '5',
  });
  expect(jsonOf(problem)).toEqual({
    type: 'urn:wf:problem:busy',
    title: 'A limit is reached',
    status: 429,
    detail: 'no',
    code: 'busy',
    help: 'try this',
  });
});

test('an invalid header is an internal error of that answer only', async () => {
  const { ask } = await apiServer([
    route(({ query }) => ({ status: 200, headers: { 'X-Own': query.get('x') ?? '' }, body: '' })),
  ]);

  expect((await ask('GET', '/it?x=a%0d%0aSet-Cookie:%20b')).status).toBe(500);
  expect((await ask('GET', '/it?x=a')).status).toBe(200);
});

test('an internal error gives the client only a reference; the log has the details', async () => {
  const { ask, logged } = await apiServer([
    route(() => {
      throw new Error('the password is hunter2');
    }),
  ]);

  const answer = await ask('GET', '/it');

  expect(answer.status).toBe(500);
  expect(answer.body).not.toMatch(/hunter2|server\.test|at /);
  const [, reference] = /under ([0-9a-f-]{36})/.exec(answer.body) ?? [];
  expect(logged.join('\n')).toContain(`error ${reference}: Error: the password is hunter2`);
  expect(logged.join('\n')).toContain('server.test.ts');
});

test('an unknown path returns 404 and an unsupported method 405', async () => {
  const { ask } = await apiServer([route(() => json({}), { path: '/api/v1/it' })]);

  const missing = await ask('GET', '/api/v1/other');
  const method = await ask('PUT', '/api/v1/it');

  expect([missing.status, method.status, method.headers.allow]).toEqual([404, 405, 'GET, HEAD, OPTIONS']);
  expect(jsonOf(missing)).toEqual({
    code: 404,
    message: 'there is nothing at this path',
    detailedMessage: 'there is nothing at this path',
  });
});

test('a stream is sent as it is written, at the speed of its reader', async () => {
  let written = 0;
  const line = 'x'.repeat(64 * 1024);
  const write = async (output: Writable, signal: AbortSignal) => {
    for (let i = 0; i < 1000 && !signal.aborted; i += 1) {
      written += line.length;
      if (!output.write(line)) await once(output, 'drain', { signal }).catch(() => {});
    }
  };
  const ended = deferred<boolean>();
  const { address } = await apiServer([
    route(() => ({
      status: 200,
      stream: async (output, signal) => {
        await write(output, signal);
        ended.resolve(signal.aborted);
      },
    })),
  ]);
  const socket = connect(address.port, address.host, () => {
    socket.write(`GET /it HTTP/1.1\r\nHost: localhost:${address.port}\r\n\r\n`);
  });

  await once(socket, 'readable');
  socket.destroy();

  expect(await ended.promise).toBe(true);
  expect(written).toBeLessThan(64 * 1024 * 1000);
});

test('a failed stream breaks the connection and is logged', async () => {
  const { ask, logged } = await apiServer([
    route(() => ({
      status: 200,
      stream: async (output) => {
        output.write('begun');
        await Promise.resolve();
        throw new Error('no more');
      },
    })),
  ]);

  await expect(ask('GET', '/it')).rejects.toThrow(/aborted|socket hang up|reset/i);
  await expect.poll(() => logged.join()).toContain('no more');
});

test('closing the server ends streams and completes pending answers', async () => {
  const begun = deferred<ApiRequest>();
  const finish = deferred<Reply>();
  const server = await apiServer([
    route((request) => {
      begun.resolve(request);
      return finish.promise;
    }),
    route(
      () => ({
        status: 200,
        stream: async (output, signal) => {
          output.write('first\n');
          await once(signal, 'abort');
        },
      }),
      { path: '/stream' },
    ),
  ]);
  const stream = server.ask('GET', '/stream');
  const answer = server.ask('GET', '/it');
  const { signal } = await begun.promise;

  const closed = server.close();
  expect(signal.aborted).toBe(true);
  finish.resolve({ status: 200, body: 'done' });

  expect((await answer).body).toBe('done');
  expect((await stream).body).toBe('first\n');
  await closed;
  await expect(server.ask('GET', '/it')).rejects.toThrow('ECONNREFUSED');
});

test('all routes are below the base path', async () => {
  const { ask, url, address } = await apiServer([route(() => json({}))], { basePath: '/wf' });

  expect(url).toBe(`http://127.0.0.1:${address.port}/wf`);
  expect((await ask('GET', '/wf/it')).status).toBe(200);
  expect((await ask('GET', '/it')).status).toBe(404);
});

function route(handle: Route['handle'], settings: Partial<Route> = {}): Route {
  return { method: 'GET', path: '/it', access: 'read', body: 'none', errors: 'v1', ...settings, handle };
}

function json(value: unknown): Reply {
  return { status: 200, body: JSON.stringify(value) };
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
