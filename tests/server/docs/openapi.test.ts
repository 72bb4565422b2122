import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { runStatuses } from '#core/run/run.ts';
import { acceptedTypes } from '#server/connection/body.ts';
import { problems } from '#server/reply/error-reply.ts';
import { type Answer, jsonOf } from '../../support/api-server.ts';
import { apiWorld } from '../../support/api-world.ts';
import { type ApiDocument, type ApiOperation, answerCheck, apiDocument } from '../../support/described-answers.ts';

type Example = { readonly where: string; readonly schema: unknown; readonly example: unknown };

test('the document has exactly the routes of the table, with the same access and bodies', async () => {
  const { routes } = await apiWorld({});

  const described = operationsOf(apiDocument()).map(({ where, operation }) => ({
    where,
    access: accessOf(operation),
    body: Object.keys(operation.requestBody?.content ?? {}),
    error: operation.responses['500']?.content,
  }));
  const table = routes.map(({ method, path, access, body, errors }) => ({
    where: `${method.toLowerCase()} ${path}`,
    access,
    body: acceptedTypes(body),
    error:
      errors === 'v1'
        ? { 'application/json': { schema: { $ref: '#/components/schemas/ErrorV1' } } }
        : { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }));
  expect(described.sort(byWhere)).toEqual(table.sort(byWhere));
  expect(described.map(({ where }) => where)).toContain('get /api/openapi.json');
  expect(described.length).toBeGreaterThan(24);
});

test('the document lists the statuses of runs and the codes of errors', () => {
  const { schemas } = apiDocument().components;

  expect(schemas['RecentRun']?.properties?.['status']?.enum).toEqual(runStatuses);
  expect(schemas['Problem']?.properties?.['code']?.enum).toEqual(Object.keys(problems));
});

test('the document has valid schemas, resolvable references and unique ids', () => {
  const document = apiDocument();
  const ajv = new Ajv2020({ strict: false });
  ajv.addFormat('date-time', true);

  for (const [name, schema] of Object.entries(document.components.schemas)) {
    expect([name, ajv.validateSchema(schema), ajv.errors]).toEqual([name, true, null]);
  }
  const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name]) => name ?? '',
  );
  const names = Object.keys(document.components.schemas);
  expect(refs.filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => !refs.includes(name))).toEqual([]);
  const ids = operationsOf(document).map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every example matches its schema', () => {
  const document = apiDocument();
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addSchema(document, 'api');

  const examples = examplesOf(document);
  expect(examples.length).toBeGreaterThan(40);
  for (const { where, schema, example } of examples) {
    const validate = ajv.compile(rooted(schema) as object);
    expect([where, validate(example), validate.errors]).toEqual([where, true, null]);
  }
});

test('the check of answers finds an undescribed answer', () => {
  const check = answerCheck();
  const problems = (body: unknown, changed: Partial<Answer> = {}) => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    return check('GET', '/api/v2/runs?x=1', { status: 200, headers, body: JSON.stringify(body), ...changed });
  };

  expect(problems({ runs: [], nextCursor: null })).toEqual([]);
  expect(problems({ runs: [] })).toEqual([expect.stringContaining("'nextCursor'")]);
  expect(problems({ runs: [{}], nextCursor: null }).length).toBeGreaterThan(10);
  expect(problems({ runs: [], nextCursor: null, more: 1 })).toEqual([expect.stringContaining('"more"')]);
  expect(problems({}, { status: 418 })).toEqual(['the status 418 is not described']);
  expect(problems({}, { headers: { 'content-type': 'text/html' } })).toEqual(['"text/html" is not described for 200']);
  expect(problems({}, { status: 404, headers: { 'content-type': 'application/problem+json' } })).not.toEqual([]);
});

test('the answers to malformed requests are described for every route', async () => {
  const { raw, address } = await apiWorld({});
  // For the incomplete request only: on a busy machine the others may take longer than this limit.
  const hasty = await apiWorld({}, {}, { limits: { headersMs: 100, checkMs: 20 } });
  const check = answerCheck();
  const host = `Host: localhost:${address.port}\r\n`;
  const refused = [
    ['GET / HTTP/1.1\r\nnot a header\r\n\r\n', 400, 'application/json'],
    [`GET http://evil.com/ HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400, 'application/problem+json'],
    [`GET / HTTP/1.1\r\n${host}X: `, 408, 'application/json'],
    [`GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}`, 431, 'application/json'],
    [`GET / HTTP/1.1\r\n${host}${'X: x\r\n'.repeat(150)}\r\n`, 431, 'application/problem+json'],
  ] as const;

  for (const [request, status, type] of refused) {
    const answer = parsed(await (status === 408 ? hasty.raw : raw)(request));
    expect([answer.status, answer.headers['content-type']]).toEqual([status, `${type}; charset=utf-8`]);
    expect(check('POST', '/api/v2/workflows/a/runs', answer)).toEqual([]);
    if (type === 'application/json') expect(check('POST', '/api/v1/dags/a', answer)).toEqual([]);
  }
});

test('an error has the format of its part of the API', async () => {
  const { ask } = await apiWorld({}, { login: { token: 't', readOnlyToken: null, basic: null } });
  const typeOf = async (path: string) => (await ask('GET', path)).headers['content-type']?.split(';')[0];

  expect(await typeOf('/api/v2/runs?workflow=/api/v1')).toBe('application/problem+json');
  expect(await typeOf('/api/v1/search?q=/api/v2')).toBe('application/json');
});

test('the document is served as JSON and as HTML, and an unchanged one is answered with 304', async () => {
  const { ask } = await apiWorld({}, { basePath: '/wf' });

  expect(jsonOf(await ask('GET', '/wf/api/openapi.json'))).toEqual({ ...apiDocument(), servers: [{ url: '/wf' }] });
  for (const [path, type] of [
    ['openapi.json', 'application/json'],
    ['docs', 'text/html'],
  ]) {
    const { status, headers } = await ask('GET', `/wf/api/${path}`);
    expect([status, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
    expect((await ask('GET', `/wf/api/${path}`, { headers: { 'If-None-Match': headers.etag } })).status).toBe(304);
  }
  const started = await ask('POST', '/wf/api/v2/workflows/nobody/runs');
  expect(started.status).toBe(404);
});

test('the location of a run includes the base path', async () => {
  const { ask } = await apiWorld({ 'a.yaml': 'steps: [{name: a, command: "true"}]\n' }, { basePath: '/wf' });
  const { headers } = await ask('POST', '/wf/api/v2/workflows/a/runs', { body: { runId: 'r' } });

  expect(headers.location).toBe('/wf/api/v2/runs/r');
  expect((await ask('GET', headers.location ?? '')).status).toBe(200);
});

test('the HTML page has no scripts, no external resources and no broken links', async () => {
  const { ask } = await apiWorld({});
  const { headers, body } = await ask('GET', '/api/docs');

  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(body).not.toMatch(/<(script|link|img|iframe|object|embed|form)|\son\w+=|javascript:|style="|https?:\/\//i);
  expect(body).toContain('Authorization: Bearer &#60;token&#62;');
  const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  const links = [...body.matchAll(/ href="([^"]+)"/g)].map(([, link]) => link);
  expect(new Set(ids).size).toBe(ids.length);
  expect(links.filter((link) => link !== 'openapi.json' && !ids.includes(link?.slice(1)))).toEqual([]);
  for (const { operation } of operationsOf(apiDocument())) expect(ids).toContain(operation.operationId);
});

/** Parses an answer received over a raw connection. */
function parsed(text: string): Answer {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.split(': ')).map(([name = '', value]) => [name.toLowerCase(), value]);
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), body };
}

function byWhere(a: { readonly where: string }, b: { readonly where: string }): number {
  return a.where.localeCompare(b.where);
}

function accessOf({ security, 'x-needs': needs }: ApiOperation): string {
  if (security !== undefined) return security.length === 0 ? 'public' : Object.keys(security[0] ?? {}).join();
  return needs === undefined ? 'read' : 'write';
}

function operationsOf({ paths }: ApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ where: `${method} ${path}`, operation })),
  );
}

function examplesOf(document: ApiDocument): readonly Example[] {
  return operationsOf(document).flatMap(({ where, operation }) => {
    const { parameters = [], requestBody, responses } = operation;
    const answers = Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map((each) => ({ where: `${where} ${status}`, ...each })),
    );
    const bodies = Object.values(requestBody?.content ?? {}).map((each) => ({ where: `${where} body`, ...each }));
    const given = parameters.map((each) => ({ where: `${where} ${each.name}`, ...each }));
    return [...answers, ...bodies, ...given].flatMap(({ where: at, schema, example }) =>
      example === undefined || schema === undefined ? [] : [{ where: at, schema, example }],
    );
  });
}

/** References relative to the id of the document. */
function rooted(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
}
