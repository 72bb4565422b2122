import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Route } from '#server/route.ts';
import type { Sent } from '../support/api-server.ts';
import { apiWorld } from '../support/api-world.ts';
import { traversals } from '../support/traversals.ts';
import { v1Files } from '../support/v1-files.ts';

/** Requirements for every current and future route of the table. */

const login = { token: 'the-token', readOnlyToken: 'look-only', basic: { username: 'me', password: 'p:w' } };
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const canary = 'CANARY-7f3a';

test('without a login only public routes are reachable, by any method and path', async () => {
  const { ask, routes } = await apiWorld(v1Files, { login });
  const closed = routes.filter(({ access }) => access !== 'public');

  expect(closed.length).toBeGreaterThan(7);
  for (const path of [...closed.map((route) => pathOf(route, 'hello')), '/', '/nothing', '/api/v1/dags/%zz', '/api']) {
    for (const method of methods) {
      if (isPublic(routes, method, path)) continue;
      const { status, headers } = await ask(method, path);
      expect([method, path, status, headers['www-authenticate']]).toEqual([
        method,
        path,
        401,
        'Basic realm="wf", charset="UTF-8"',
      ]);
    }
  }
});

test('a path allows the methods of its routes and no others', async () => {
  const { ask, routes } = await apiWorld({});
  const readable = routes.filter(({ method }) => method === 'GET').map(({ path }) => path);

  for (const path of new Set(routes.map((route) => route.path))) {
    const own = routes.filter((route) => route.path === path).map(({ method }) => method);
    const allow = [...own, 'OPTIONS', ...(readable.includes(path) ? ['HEAD'] : [])].sort().join(', ');
    const asked = path.replaceAll(/\{\w+\}/g, 'hello');
    const { status, headers } = await ask('OPTIONS', asked);
    expect([asked, status, headers['allow']]).toEqual([asked, 204, allow]);
    expect([asked, (await ask('PATCH', asked)).status]).toEqual([asked, 405]);
  }
  expect((await ask('GET', '/api/v2/runs/batch')).status).toBe(405);
});

test('a body of JSON that is not an object is rejected by every route', async () => {
  const { ask, routes, runs } = await apiWorld(v1Files);
  const takers = routes.filter(({ body }) => body === 'json' || body === 'form-or-json');

  expect(takers.length).toBeGreaterThan(10);
  for (const route of takers) {
    for (const body of ['null', '[]', '"text"', '5', 'true']) {
      const path = pathOf(route, 'hello');
      const answer = await ask(route.method, path, { headers: { 'Content-Type': 'application/json' }, body });
      expect([path, body, answer.status, answer.body]).toEqual([
        path,
        body,
        400,
        expect.stringContaining('the body must be an object'),
      ]);
    }
  }
  await runs.settled();
  expect((await ask('GET', '/api/v2/runs')).body).toContain('"runs":[]');
});

test('a workflow file that was written just now is known to every route', async () => {
  const { ask, routes, runs, dags } = await apiWorld({});
  const named = routes.filter(({ path }) => path.includes('{name}'));
  let count = 0;

  expect(named.length).toBeGreaterThan(10);
  for (const route of named) {
    // A new name each time.
    for (const [file, name] of [
      [`w${count}.yaml`, `w${count}`],
      [`x${count}.yaml`, `x${count}.yaml`],
    ] as const) {
      writeFileSync(join(dags, file), 'steps: [{name: one, command: "true"}]\n');
      const fields = route.errors === 'v1' ? { action: 'suspend', value: 'true' } : {};
      const { status } = await ask(route.method, pathOf(route, name), write(route, fields));
      expect([route.method, route.path, status]).not.toEqual([route.method, route.path, 404]);
      count += 1;
    }
  }
  writeFileSync(join(dags, 'beside.yaml'), 'steps: [{name: one, command: "true"}]\n');
  const headers = { 'Content-Type': 'text/yaml' };
  expect((await ask('POST', '/api/v2/validate?workflow=beside', { headers, body: 'steps: []' })).status).toBe(200);
  expect((await ask('GET', '/api/v2/workflows/never')).status).toBe(404);
  await runs.settled();
});

test('a wrong login is rejected like a missing one', async () => {
  const { ask, routes } = await apiWorld(v1Files, { login });
  const wrong = ['Bearer the-toke', 'Bearer the-token-', 'Bearer ', 'Basic bWU6', 'Digest the-token', 'the-token'];
  const path = pathOf(findRoute(routes, 'read'), 'hello');

  for (const Authorization of wrong) {
    expect((await ask('GET', path, { headers: { Authorization } })).status).toBe(401);
  }
});

test('each kind of login opens the routes of its access', async () => {
  const { ask, routes } = await apiWorld(v1Files, { login });
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const mayWrite = [
    'Bearer the-token',
    'bearer the-token',
    basic('me:p:w'),
    basic('anybody:the-token'),
    basic(':the-token'),
  ];
  const mayLook = ['Bearer look-only', basic('x:look-only')];

  for (const route of routes) {
    const tried = async (Authorization: string) =>
      (await ask(route.method, pathOf(route, 'nobody'), { headers: { Authorization } })).status;
    if (route.access === 'worker') {
      for (const each of [...mayWrite, ...mayLook]) expect(await tried(each)).toBe(401);
      continue;
    }
    for (const each of mayWrite) expect(await tried(each)).not.toSatisfy((status) => [401, 403].includes(status));
    for (const each of mayLook) {
      const status = await tried(each);
      if (route.access === 'write') expect(status).toBe(403);
      else expect([401, 403]).not.toContain(status);
    }
  }
});

test('a public route reveals only that it exists and how to log in', async () => {
  const { ask, routes } = await apiWorld(v1Files, { login });
  const told: Record<string, readonly [number, string]> = {};

  for (const { method, path } of routes.filter(({ access }) => access === 'public')) {
    const { status, body } = await ask(method, path, method === 'POST' ? { body: {} } : {});
    told[`${method} ${path}`] = [status, body];
  }

  expect(told).toEqual({
    'GET /health': [200, '{"status":"ok","eventLoopLagMs":{"mean":0,"p99":0,"max":0}}\n'],
    'GET /api/v2/session': [200, '{"logins":["password","token"],"access":null,"name":null,"csrf":null}\n'],
    'POST /api/v2/session': [400, expect.stringContaining('a login is a')],
  });
});

test('no name in a path escapes the workflows directory', async () => {
  const world = await apiWorld(v1Files);
  writeFileSync(join(world.directory, 'outside.yaml'), `# ${canary}\nsteps: [{name: a, command: "true"}]\n`);
  symlinkSync(join(world.directory, 'outside.yaml'), join(world.directory, 'home.yaml'));
  const named = world.routes.filter(({ path, access }) => path.includes('{') && access !== 'worker');
  const before = tree(world.directory);

  expect(named.length).toBeGreaterThan(3);
  expect(traversals.length).toBeGreaterThanOrEqual(60);
  for (const route of named) {
    for (const name of traversals) {
      const path = pathOf(route, name);
      const { status, body } = await world.ask(route.method, path, write(route, { action: 'start' }));
      expect([path, status, body.includes(canary)]).toEqual([path, expect.toSatisfy(isRefusal), false]);
    }
  }
  expect(tree(world.directory)).toEqual(before);
});

test('no value of a query or a body escapes the workflows directory', async () => {
  const world = await apiWorld(v1Files);
  writeFileSync(join(world.directory, 'outside.yaml'), `# ${canary}\n`);
  await world.ask('POST', '/api/v2/workflows/hello/runs', { body: { runId: 'run-1' } });
  await world.runs.settled();
  const before = tree(world.directory);
  const sends = (value: string): readonly (readonly [string, string, Sent?])[] => {
    const encoded = encodeURIComponent(value);
    const post = (fields: Record<string, string>) => ({ body: fields });
    return [
      ['GET', `/api/v1/dags/hello?tab=log&step=greet&file=${encoded}`],
      ['GET', `/api/v1/dags/hello?tab=scheduler-log&file=${encoded}`],
      ['GET', `/api/v1/dags/hello?tab=${encoded}`],
      ['POST', '/api/v1/dags/hello', post({ action: 'retry', requestId: value })],
      ['POST', '/api/v1/dags/hello', post({ action: 'stop', requestId: value })],
      ['POST', '/api/v1/dags/hello', post({ action: value })],
      ['GET', `/api/v2/workflows?cursor=${encoded}`],
      ...(value === '' ? [] : [['GET', `/api/v2/runs/run-1/logs?step=${encoded}`] as const]),
      ['POST', '/api/v2/runs/run-1/retry', post({ from: value })],
      ['POST', '/api/v2/runs/run-1/retry', post({ step: value })],
    ];
  };

  for (const value of traversals) {
    for (const [method, path, sent] of sends(value)) {
      const { status, body } = await world.ask(method, path, sent);
      expect([path, sent, status, body.includes(canary)]).toEqual([path, sent, expect.toSatisfy(isRefusal), false]);
    }
    const { status } = await world.ask('GET', `/api/v1/dags?group=${encodeURIComponent(value)}`);
    expect([value, status]).toEqual([value, expect.toSatisfy((each) => each === 200 || each === 431)]);
  }
  expect(tree(world.directory)).toEqual(before);
});

test('a new name creates a file in the workflows directory or nothing', async () => {
  const world = await apiWorld({ 'hello.yaml': 'steps: [{name: a, command: "true"}]\n' });
  const outside = () => tree(world.directory).filter((path) => !path.startsWith('dags/'));
  const before = outside();

  for (const value of traversals) {
    const made = await world.ask('POST', '/api/v1/dags', { body: { action: 'new', value } });
    const renamed = await world.ask('POST', '/api/v1/dags/hello', { body: { action: 'rename', value } });
    if (renamed.status === 200) {
      const { NewDagID } = JSON.parse(renamed.body);
      await world.ask('POST', `/api/v1/dags/${encodeURIComponent(NewDagID)}`, {
        body: { action: 'rename', value: 'hello' },
      });
    }
    expect([value, made.status, renamed.status]).toEqual([
      value,
      expect.toSatisfy((status) => [200, 400, 409].includes(status)),
      expect.toSatisfy((status) => [200, 400, 409].includes(status)),
    ]);
  }

  expect(outside()).toEqual(before);
  const names = readdirSync(world.dags);
  expect(names).toContain('hello.yaml');
  for (const name of names) expect(name).toMatch(/^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+ -]*\.yaml$/u);
});

test('a save does not write through a link that leaves the directory', async () => {
  const world = await apiWorld({});
  const outside = join(world.directory, 'outside.yaml');
  writeFileSync(outside, 'steps: [{name: a, command: "true"}]\n');
  symlinkSync(outside, join(world.dags, 'link.yaml'));
  await world.app.catalog.refresh();
  const save = { action: 'save', value: 'steps: [{name: changed, command: "true"}]\n' };

  const { status, body } = await world.ask('POST', '/api/v1/dags/link', { body: save });

  expect([status, body]).toEqual([400, expect.stringContaining('outside the workflows directory')]);
  expect(readFileSync(outside, 'utf8')).not.toContain('changed');
});

test('every route with a body rejects malformed, unsupported and too large ones', async () => {
  const world = await apiWorld(v1Files);
  const taking = world.routes.filter(({ body }) => body === 'form-or-json');
  const json = { 'Content-Type': 'application/json' };
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const bad: readonly (readonly [number, Sent])[] = [
    [400, { headers: json, body: '{"action":' }],
    [400, { headers: json, body: 'null,' }],
    [400, { headers: json, body: '"start"' }],
    [400, { headers: form, body: 'action=%zz' }],
    [400, { headers: form, body: 'action=%ff' }],
    [413, { headers: json, body: `"${'x'.repeat(1024 * 1024)}"` }],
    [413, { headers: form, body: `action=start&params=${'x'.repeat(1024 * 1024)}` }],
    [413, { headers: { ...json, 'Transfer-Encoding': 'chunked' }, body: `"${'x'.repeat(2 * 1024 * 1024)}"` }],
    [415, { body: 'action=start' }],
    [415, { headers: { 'Content-Type': 'text/html' }, body: 'action=start' }],
    [400, { headers: { 'Content-Type': 'multipart/form-data; boundary=x' }, body: '--x' }],
    [400, { headers: { 'Content-Type': 'multipart/form-data' }, body: 'action=start' }],
    [415, { headers: { 'Content-Type': 'multipart/mixed; boundary=x' }, body: '--x--' }],
    [415, { headers: { ...json, 'Content-Encoding': 'gzip' }, body: '{}' }],
    [415, { headers: { 'Content-Type': 'application/json; charset=utf-16' }, body: '{}' }],
  ];

  expect(taking.length).toBeGreaterThan(1);
  for (const route of taking) {
    for (const [expected, sent] of bad) {
      const { status, body } = await world.ask(route.method, pathOf(route, 'hello'), sent);
      expect([route.path, sent.headers, status]).toEqual([route.path, sent.headers, expected]);
      const told = { v1: { message: expect.any(String), code: expected }, problem: { status: expected } };
      expect(JSON.parse(body)).toMatchObject(told[route.errors]);
    }
  }
});

test('every route with a text body rejects other and larger bodies', async () => {
  const world = await apiWorld(v1Files);
  const taking = world.routes.filter(({ body }) => body === 'text');
  const yaml = { 'Content-Type': 'text/yaml' };
  const bad: readonly (readonly [number, Sent])[] = [
    [415, { body: { steps: [] } }],
    [415, { body: new URLSearchParams('a=b') }],
    [415, { headers: { 'Content-Type': 'text/yaml; charset=latin1' }, body: 'steps: []' }],
    [413, { headers: yaml, body: 'x'.repeat(1024 * 1024 + 1) }],
  ];

  expect(taking.length).toBeGreaterThan(0);
  for (const route of taking) {
    for (const [expected, sent] of bad) {
      const { status } = await world.ask(route.method, route.path, sent);
      expect([route.path, sent.headers, status]).toEqual([route.path, sent.headers, expected]);
    }
  }
});

function isPublic(routes: readonly Route[], method: string, path: string): boolean {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return routes.some((route) => route.access === 'public' && route.method === wanted && route.path === path);
}

function pathOf({ path }: Route, name: string): string {
  // The client would resolve dots itself.
  return path.replace(/\{\w+\}/g, () => encodeURIComponent(name).replaceAll('.', '%2e'));
}

function write({ body }: Route, fields: object): Sent {
  if (body === 'text') return { headers: { 'Content-Type': 'text/yaml' }, body: 'steps: []' };
  return body === 'none' ? {} : { body: fields };
}

function findRoute(routes: readonly Route[], access: Route['access']): Route {
  const route = routes.find((each) => each.access === access);
  if (route === undefined) throw new Error(`no route is "${access}"`);
  return route;
}

function isRefusal(status: number): boolean {
  return [400, 404, 405, 431].includes(status);
}

function tree(directory: string): readonly string[] {
  return (readdirSync(directory, { recursive: true }) as string[]).filter((path) => !path.startsWith('home/')).sort();
}
