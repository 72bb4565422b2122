import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { pageReply, pageRoutes, readPageFiles } from '#server/page/page-routes.ts';
import { bestEncoding } from '#server/reply/send.ts';
import { allRoutes } from '#server/routes.ts';
import { type ApiServer, apiServer } from '../support/api-server.ts';
import { apiWorld } from '../support/api-world.ts';

const files = readPageFiles(join(import.meta.dirname, '../../dist/page'));
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** A server with the API over an empty directory, and with the page. */
async function pageServer(basePath = '', token: string | null = null): Promise<ApiServer> {
  const { app } = await apiWorld({});
  const page = pageReply(files, { basePath, isLoginRequired: token !== null });
  const parts = { ...app, loopLag: () => ({ mean: 0, p99: 0, max: 0 }), page };
  const login = { token, readOnlyToken: null, basic: null };
  const routes = [...allRoutes(parts, basePath), ...pageRoutes(files, page, basePath)];
  return apiServer(routes, { basePath, login }, { page });
}

function assetNamed(suffix: string): string {
  const name = [...files.assets.keys()].find((each) => each.endsWith(suffix));
  if (name === undefined) throw new Error(`no file of the page ends with ${suffix}`);
  return name;
}

test('the root serves the page to browsers and redirects programs to the description of the API', async () => {
  const { ask } = await pageServer();

  const page = await ask('GET', '/', { headers: { Accept: browser } });
  const redirects = await Promise.all(
    [{}, { Accept: '*/*' }, { Accept: 'application/json' }].map((headers) => ask('GET', '/', { headers })),
  );

  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['cache-control']).toBe('no-cache');
  expect(redirects.map(({ status, headers }) => [status, headers.location])).toEqual([
    [307, '/api/docs'],
    [307, '/api/docs'],
    [307, '/api/docs'],
  ]);
});

test('the page can load only from its own server and has no inline scripts', async () => {
  const { ask } = await pageServer();
  const { headers, body } = await ask('GET', '/', { headers: { Accept: browser } });

  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "worker-src 'self'; manifest-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types page-worker",
  );
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
  expect(body).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc="\.\/assets\/)/i);
});

test('an unchanged page is answered with 304', async () => {
  const { ask } = await pageServer();
  const first = await ask('GET', '/', { headers: { Accept: browser } });

  const again = await ask('GET', '/', { headers: { Accept: browser, 'If-None-Match': first.headers.etag } });

  expect([again.status, again.body]).toEqual([304, '']);
});

test('the page contains the base path', async () => {
  const { ask } = await pageServer('/tools/wf');
  const root = await ask('GET', '/tools/wf/', { headers: { Accept: browser } });

  expect(root.body).toContain('<base href="/tools/wf/">');
  expect((await ask('GET', `/tools/wf/assets/${assetNamed('.js')}`)).status).toBe(200);
  expect((await ask('GET', '/tools/wf')).headers.location).toBe('/tools/wf/api/docs');
});

test.each([
  ['br, gzip', 'br'],
  ['gzip', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['identity', undefined],
  ['', undefined],
])('with "Accept-Encoding: %s" a file of the page has the encoding %s and is immutable', async (accepted, encoding) => {
  const { url } = await pageServer();
  const name = assetNamed('.js');
  const { get } = await import('node:http');

  const { headers, bytes } = await new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>(
    (resolve, reject) => {
      const asked = get(`${url}/assets/${name}`, { headers: { 'Accept-Encoding': accepted } }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(chunks) }));
      });
      asked.on('error', reject);
    },
  );
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''] ?? ((body: Buffer) => body);

  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
    etag: expect.stringMatching(/^"[\w-]{22}"$/),
  });
  expect(headers['content-encoding']).toBe(encoding);
  expect(decode(bytes)).toEqual(files.assets.get(name)?.bodies.identity?.bytes);
});

test('a file without compressed forms is sent uncompressed', () => {
  expect(bestEncoding('br, gzip', ['identity'])).toBe('identity');
});

test('an unknown path is a 404 with the page for browsers and an error for programs', async () => {
  const { ask } = await pageServer();

  const shown = await ask('GET', '/nothing', { headers: { Accept: browser } });
  const told = await ask('GET', '/nothing');
  const asset = await ask('GET', '/assets/../index.html');

  expect([shown.status, shown.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  expect([told.status, told.headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8']);
  expect(asset.status).toBe(404);
});

test('a browser gets the page without a login, and no login dialog of its own', async () => {
  const { ask } = await pageServer('', 'the-token');
  const visit = (path: string) => ask('GET', path, { headers: { Accept: browser, 'User-Agent': 'Mozilla/5.0' } });
  const screens = ['/', '/login', '/runs', '/runs/one', '/system', '/w/hello', '/w/hello/start'];
  const shown = await Promise.all(screens.map(visit));
  const elsewhere = await Promise.all(['/nothing', '/api/docs', '/api/v2/runs', '/metrics'].map(visit));
  const fetched = await ask('GET', '/api/v2/runs', { headers: { 'Sec-Fetch-Site': 'same-origin' } });

  for (const { status, body } of shown) {
    expect([status, body.includes('<meta name="login" content="required">')]).toEqual([200, true]);
  }
  for (const { status, headers, body } of [...elsewhere, fetched]) {
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="wf"']);
    expect(body).toMatch(/^<!doctype html>|^{"type":"urn:wf:problem:login-needed"/);
  }
  expect(new Set(elsewhere.map(({ body }) => body)).size).toBe(1);
  expect((await ask('GET', `/assets/${assetNamed('.js')}`)).status).toBe(200);
});

test('a program gets no part of the page without a login', async () => {
  const { ask } = await pageServer('', 'the-token');

  for (const path of ['/', '/login', '/runs', '/w/hello', '/dags', '/nothing']) {
    const { status, headers } = await ask('GET', path, { headers: { 'User-Agent': 'curl/8.5.0', Accept: '*/*' } });
    expect([path, status, headers['www-authenticate']]).toEqual([path, 401, 'Basic realm="wf", charset="UTF-8"']);
  }
  const Authorization = 'Bearer the-token';
  expect((await ask('GET', '/login', { headers: { Authorization } })).status).toBe(200);
});

test('the page does not ask for a login if none is set', async () => {
  const { ask } = await pageServer();
  const { body } = await ask('GET', '/login', { headers: { Accept: browser } });

  expect(body).not.toContain('name="login"');
});

test('a folder without the built page is reported', () => {
  expect(() => readPageFiles(import.meta.dirname)).toThrow(`the web page is missing in ${import.meta.dirname}`);
});
