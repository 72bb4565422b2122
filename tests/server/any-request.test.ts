import { expect, test } from 'vitest';
import type { Sent } from '../support/api-server.ts';
import { apiWorld } from '../support/api-world.ts';
import { type ApiDocument, type ApiOperation, apiDocument } from '../support/described-answers.ts';
import fc from '../support/fast-check.ts';
import { traversals } from '../support/traversals.ts';

const files = {
  'hello.yaml':
    'params: NAME=bob\nsteps: [{name: greet, command: echo $NAME, output: O}, {name: fail, command: "false"}]\n',
  'ops/hello.yaml': 'schedule: "0 5 * * *"\nsteps: [{name: greet, command: "true"}]\n',
  'broken.yaml': 'steps: [{name: a, comand: x}]\n',
};

type Request = { readonly method: string; readonly path: string; readonly sent: Sent };

test('arbitrary requests get described answers and no internal errors', { timeout: 60_000 }, async () => {
  const { ask, runs, logged } = await apiWorld(files);
  await ask('POST', '/api/v2/workflows/hello.yaml/runs', { body: { runId: 'run-1' } });
  await ask('POST', '/api/v1/dags/ops%2Fhello', { body: { action: 'start', requestId: 'run-2' } });
  await runs.settled();
  const statuses = new Map<number, number>();

  await fc.assert(
    fc.asyncProperty(anyRequest(apiDocument()), async ({ method, path, sent }) => {
      // It fails for an answer that does not match its description.
      const { status, body } = await ask(method, path, sent);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect([status, status >= 500 ? body : '']).toEqual([expect.toSatisfy((each) => each < 500), '']);
    }),
    { numRuns: 500 },
  );
  expect(logged).toEqual([]);
  // Enough requests were accepted.
  for (const status of [200, 400, 404]) expect(statuses.get(status) ?? 0).toBeGreaterThan(20);
});

function anyRequest({ paths }: ApiDocument): fc.Arbitrary<Request> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return fc.constantFrom(...operations).chain(({ path, method, operation }) =>
    fc
      .record({
        method: fc.constantFrom(...(method === 'get' ? ['GET', 'GET', 'HEAD'] : [method.toUpperCase()])),
        path: anyPath(path),
        query: anyFields(operation, 'query'),
        headers: anyFields(operation, 'header'),
        body: anyBody(operation),
      })
      .map((made): Request => {
        const query = new URLSearchParams(made.query).toString();
        const headers = { ...made.body.headers, ...latin(made.headers) };
        const sent = made.body.body === undefined ? { headers } : { headers, body: made.body.body };
        return { method: made.method, path: query === '' ? made.path : `${made.path}?${query}`, sent };
      }),
  );
}

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(...traversals),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    'NaN',
    'null',
    '__proto__',
    'constructor',
    '%00',
    'x'.repeat(300),
    '𝒳',
    '\ud800',
  ),
);
const known = fc.constantFrom(
  'hello',
  'hello.yaml',
  'ops/hello',
  'broken',
  'run-1',
  'run-2',
  'run-',
  '@latest',
  '@failed',
  'greet',
);

function anyPath(path: string): fc.Arbitrary<string> {
  const segments = path
    .split('/')
    .map((segment) =>
      segment.startsWith('{')
        ? fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: hostile }).map(segmentOf)
        : fc.constant(segment),
    );
  return fc.tuple(...segments).map((parts) => parts.join('/'));
}

/** The client would resolve dots itself. */
function segmentOf(text: string): string {
  return encodeURIComponent(wellFormed(text)).replaceAll('.', '%2e') || '%20';
}

function anyFields({ parameters = [] }: ApiOperation, place: string): fc.Arbitrary<Record<string, string>> {
  const fields = parameters.filter((each) => each.in === place);
  const values = Object.fromEntries(fields.map(({ name, schema }) => [name, anyText(schema)]));
  return fc.record(values, { requiredKeys: [] }) as fc.Arbitrary<Record<string, string>>;
}

/** Values that a schema accepts, and values that it rejects. */
function anyText(schema: { readonly type?: unknown; readonly enum?: readonly unknown[] }): fc.Arbitrary<string> {
  const fitting = [
    ...(schema.enum ?? []).map((value) => fc.constant(String(value))),
    ...(schema.type === 'integer' ? [fc.nat(30).map(String)] : []),
    ...(schema.type === 'boolean' ? [fc.constantFrom('true', 'false')] : []),
    ...(schema.type === 'string'
      ? [fc.constantFrom('bytes=0-3', 'bytes=-2', 'failed', 'hello', 'greet', '2026-01-01')]
      : []),
  ];
  return fc.oneof({ weight: 2, arbitrary: fc.oneof(...fitting) }, { weight: 1, arbitrary: hostile });
}

const parameters = fc.oneof(
  hostile,
  fc.constant('NAME=x y'),
  fc.array(hostile),
  fc.dictionary(hostile, fc.jsonValue()),
);
const value = fc.oneof(
  { weight: 3, arbitrary: known },
  hostile,
  fc.constantFrom(
    'start',
    'stop',
    'retry',
    'suspend',
    'mark-failed',
    'rename',
    'new',
    'succeeded',
    'true',
    files['broken.yaml'],
  ),
  fc.jsonValue(),
);

function anyBody({ requestBody }: ApiOperation): fc.Arbitrary<Sent> {
  const types = Object.keys(requestBody?.content ?? {});
  if (types.length === 0) return fc.constant({});
  const names = ['action', 'value', 'requestId', 'request-id', 'step', 'from', 'runId', 'useFile', 'status'];
  const fields = fc.record(
    { ...Object.fromEntries(names.map((name) => [name, value])), params: parameters },
    { requiredKeys: [] },
  );
  const few = fields.map((all) => Object.fromEntries(Object.entries(all).slice(0, 3)));
  const asForm = few.map(
    (all): Sent => ({
      body: new URLSearchParams(Object.entries(all).map(([name, each]): [string, string] => [name, String(each)])),
    }),
  );
  const asText = fc
    .tuple(fc.constantFrom(...types, 'text/html', ''), fc.oneof(hostile, yaml))
    .map(([type, body]): Sent => ({ headers: type === '' ? {} : { 'Content-Type': type }, body: wellFormed(body) }));
  return fc.oneof(
    few.map((body): Sent => ({ body })),
    asForm,
    asText,
    fc.constant({}),
  );
}

const yaml = fc.constantFrom(
  ...Object.values(files),
  'steps: []',
  'a: &a [*a]',
  '- ',
  '{',
  'imports: [hello, ../x]\nsteps: []',
);

/** Without lone surrogates, which UTF-8 cannot encode. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** Characters that a header can contain. */
function latin(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, text.replace(/[^\x20-\x7e]/g, '').trim()]),
  );
}
