import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Answer } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';

const one = 'steps: [{name: one, command: "true"}]\n';
const two = 'steps: [{name: two, command: "true"}]\n';
const broken = 'steps: [{name: one, comand: "true"}]\n';
const path = '/api/v2/workflows/a/source';

test('the text is sent with a tag, and a save must have the current tag', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const shown = await world.ask('GET', path);
  expect([shown.status, shown.body, shown.headers['content-type']]).toEqual([200, one, 'text/yaml; charset=utf-8']);
  const tag = shown.headers.etag ?? '';
  expect((await world.ask('GET', path, { headers: { 'If-None-Match': tag } })).status).toBe(304);

  const saved = await put(world, two, { 'If-Match': tag });
  expect([saved.status, JSON.parse(saved.body)]).toEqual([
    200,
    { id: 'a.yaml', file: join(world.dags, 'a.yaml'), diagnostics: [] },
  ]);
  expect(textOf(world)).toBe(two);
  const late = await put(world, one, { 'If-Match': tag });
  expect([late.status, codeOf(late), late.headers.etag]).toEqual([412, 'precondition-failed', saved.headers.etag]);
  expect(textOf(world)).toBe(two);
  expect((await put(world, one, { 'If-Match': `"other", W/${saved.headers.etag}` })).status).toBe(200);
  expect((await put(world, two, { 'If-Match': '*' })).status).toBe(200);
});

test('a change by another program is detected before the catalog has seen it', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const { headers } = await world.ask('GET', path);
  writeFileSync(join(world.dags, 'a.yaml'), two);

  expect((await put(world, one, { 'If-Match': headers.etag ?? '' })).status).toBe(412);
  expect((await world.ask('GET', path)).body).toBe(two);
  expect(textOf(world)).toBe(two);
});

test('requests without a condition are rejected', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const asked = [
    await put(world, two, {}),
    await world.ask('POST', '/api/v2/workflows/a/rename', { body: { to: 'b' } }),
    await world.ask('DELETE', '/api/v2/workflows/a'),
  ];

  expect(asked.map((answer) => [answer.status, codeOf(answer)])).toEqual(Array(3).fill([428, 'precondition-required']));
  expect([readdirSync(world.dags), textOf(world)]).toEqual([['a.yaml'], one]);
});

test('a text with errors is rejected with its diagnostics, or saved on request', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const refused = await put(world, broken, { 'If-Match': '*' });
  expect([refused.status, JSON.parse(refused.body).diagnostics[0]]).toMatchObject([
    422,
    { code: 'unknown-key', file: join(world.dags, 'a.yaml'), line: 1 },
  ]);
  expect(textOf(world)).toBe(one);

  const saved = await put(world, broken, { 'If-Match': '*' }, 'allowInvalid=true');
  expect([saved.status, JSON.parse(saved.body).diagnostics.length]).toEqual([200, 1]);
  expect(textOf(world)).toBe(broken);
});

test('a file is created with "If-None-Match: *", and never replaces another one', async () => {
  const world = await apiWorld({ 'a.yaml': one, 'ops/c.yaml': one });
  const create = (name: string, text = one, headers = { 'If-None-Match': '*' }) =>
    put(world, text, headers, '', `/api/v2/workflows/${name}/source`);

  const made = await create('b');
  expect([made.status, made.headers.location, JSON.parse(made.body).id]).toEqual([
    201,
    '/api/v2/workflows/b.yaml',
    'b.yaml',
  ]);
  expect(readFileSync(join(world.dags, 'b.yaml'), 'utf8')).toBe(one);
  expect((await create('b', two)).status).toBe(412);
  expect((await create('c', two)).status).toBe(412);
  expect((await create('d', broken)).status).toBe(422);
  expect((await create('d', one, { 'If-None-Match': '"x"' })).status).toBe(400);
  expect((await create('..%2Fd')).status).toBe(400);
  expect(readdirSync(world.dags).sort()).toEqual(['a.yaml', 'b.yaml', 'ops']);
  expect(readFileSync(join(world.dags, 'b.yaml'), 'utf8')).toBe(one);
});

test('a workflow is renamed with its suspension, and removed', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const suspended = await world.ask('PUT', '/api/v2/workflows/a/suspended', { body: { suspended: true } });
  expect(JSON.parse(suspended.body)).toEqual({ suspended: true, until: null });
  const stale = await world.ask('POST', '/api/v2/workflows/a/rename', {
    body: { to: 'b' },
    headers: { 'If-Match': '"x"' },
  });
  expect(stale.status).toBe(412);

  const { headers } = await world.ask('GET', path);
  const known = { 'If-Match': headers.etag ?? '' };
  const renamed = await world.ask('POST', '/api/v2/workflows/a/rename', { body: { to: 'b' }, headers: known });
  expect(JSON.parse(renamed.body)).toEqual({ id: 'b.yaml', file: join(world.dags, 'b.yaml') });
  const { workflows } = JSON.parse((await world.ask('GET', '/api/v2/workflows')).body);
  expect(workflows).toMatchObject([{ id: 'b.yaml', suspended: true }]);
  expect((await world.ask('DELETE', '/api/v2/workflows/b', { headers: { 'If-Match': '"x"' } })).status).toBe(412);
  expect((await world.ask('DELETE', '/api/v2/workflows/b', { headers: known })).status).toBe(204);
  expect(readdirSync(world.dags)).toEqual([]);
  expect(world.app.workflows.suspendedUntil(join(world.dags, 'b.yaml'))).toBe(null);
});

test('a schedule can be suspended until a time in the future', async () => {
  const world = await apiWorld({ 'a.yaml': `schedule: "0 5 1 1 *"\n${one}` });
  const suspend = (body: object) => world.ask('PUT', '/api/v2/workflows/a/suspended', { body });
  const until = '2150-06-01T08:00:00.000Z';
  expect(JSON.parse((await suspend({ suspended: true, until: '2150-06-01T10:00:00+02:00' })).body)).toEqual({
    suspended: true,
    until,
  });
  const workflows = async () => JSON.parse((await world.ask('GET', '/api/v2/workflows')).body).workflows;
  expect(await workflows()).toMatchObject([{ suspended: true, suspendedUntil: until }]);

  expect((await suspend({ suspended: true, until: '2020-01-01' })).body).toContain('\\"until\\" has passed');
  expect((await suspend({ suspended: true, until: 'tomorrow' })).status).toBe(400);
  expect((await suspend({ suspended: false, until })).status).toBe(400);
  expect(await workflows()).toMatchObject([{ suspended: true, suspendedUntil: until }]);
  expect(JSON.parse((await suspend({ suspended: false })).body)).toEqual({ suspended: false, until: null });
  expect(await workflows()).toMatchObject([{ suspended: false, suspendedUntil: null }]);
});

test('a file is created in a group, and moved to another one', async () => {
  const world = await apiWorld({ 'a.yaml': one });
  const create = (group: string, text = one) =>
    put(world, text, { 'If-None-Match': '*' }, new URLSearchParams({ group }).toString(), '/api/v2/workflows/b/source');
  const move = (body: object) =>
    world.ask('POST', '/api/v2/workflows/b/rename', { body, headers: { 'If-Match': '*' } });

  const refused = await Promise.all(
    ['../up', '/etc', 'ops//b', '.git', 'a.yaml', 'a/'.repeat(9)].map((group) => create(group)),
  );
  expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(400));
  expect(JSON.parse(refused[4]?.body ?? '').detail).toContain('a.yaml" is not a directory');
  expect(readdirSync(world.dags)).toEqual(['a.yaml']);
  expect((await create('ops/nightly', broken)).status).toBe(422);
  expect(readdirSync(world.dags)).toEqual(['a.yaml']);
  expect(JSON.parse((await create('ops/nightly')).body).file).toBe(join(world.dags, 'ops/nightly/b.yaml'));
  expect(JSON.parse((await move({ to: 'c' })).body).file).toBe(join(world.dags, 'ops/nightly/c.yaml'));
  const moved = await world.ask('POST', '/api/v2/workflows/c/rename', {
    body: { to: 'c', group: '' },
    headers: { 'If-Match': '*' },
  });
  expect(JSON.parse(moved.body)).toEqual({ id: 'c.yaml', file: join(world.dags, 'c.yaml') });
  expect(readdirSync(join(world.dags, 'ops/nightly'))).toEqual([]);
});

test('a file is not moved away from its imports', async () => {
  const parts = 'steps: [{name: two, command: "true"}]\n';
  const world = await apiWorld({ 'ops/a.yaml': `imports: [parts]\n${one}`, 'ops/parts.yaml': parts });
  const moved = await world.ask('POST', '/api/v2/workflows/a/rename', {
    body: { to: 'a', group: '' },
    headers: { 'If-Match': '*' },
  });

  expect([moved.status, codeOf(moved)]).toEqual([422, 'invalid-workflow']);
  expect(readdirSync(world.dags)).toEqual(['ops']);
  expect(readdirSync(join(world.dags, 'ops')).sort()).toEqual(['a.yaml', 'parts.yaml']);
});

test('a text is checked in the directory of its file', async () => {
  const parts = 'steps: [{name: two, command: "true"}]\n';
  const { ask } = await apiWorld({ 'ops/a.yaml': one, 'ops/parts.yaml': parts });
  const check = async (query: string) => {
    const options = { body: `imports: [parts]\n${one}`, headers: { 'Content-Type': 'text/yaml' } };
    const answer = await ask('POST', `/api/v2/validate${query}`, options);
    return answer.status === 200 ? JSON.parse(answer.body).files[0].valid : answer.status;
  };

  expect([await check('?workflow=a'), await check(''), await check('?workflow=b')]).toEqual([true, false, 404]);
});

test('a read-only login gets no secret of a file, and no text of a broken one', async () => {
  const login = { token: 'the-token', readOnlyToken: 'look-only', basic: null };
  const secret = `secrets: [TOKEN]\nenv: [TOKEN: hunter2-and-more]\n${one}`;
  const world = await apiWorld({ 'a.yaml': secret, 'broken.yaml': `# hunter2-and-more\n${broken}` }, { login });
  const get = (name: string, token: string) =>
    world.ask('GET', `/api/v2/workflows/${name}/source`, { headers: { Authorization: `Bearer ${token}` } });

  expect((await get('a', 'the-token')).body).toBe(secret);
  expect((await get('a', 'look-only')).body).toBe(secret.replace('hunter2-and-more', '***'));
  expect((await get('broken', 'the-token')).status).toBe(200);
  const refused = await get('broken', 'look-only');
  expect([refused.status, refused.body.includes('hunter2')]).toEqual([403, false]);
});

function put(
  { ask }: ApiWorld,
  body: string,
  headers: Record<string, string>,
  query = '',
  target = path,
): Promise<Answer> {
  return ask('PUT', `${target}${query === '' ? '' : `?${query}`}`, {
    body,
    headers: { 'Content-Type': 'text/yaml', ...headers },
  });
}

function codeOf({ body }: Answer): string {
  return JSON.parse(body).code;
}

function textOf({ dags }: ApiWorld): string {
  return readFileSync(join(dags, 'a.yaml'), 'utf8');
}
