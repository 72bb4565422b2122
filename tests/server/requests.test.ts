import { expect, test } from 'vitest';
import { queries } from '#server/generated/requests.mjs';
import { readBody, readQuery } from '#server/route.ts';
import { apiDocument } from '../support/described-answers.ts';

const query = (text: string) => new URLSearchParams(text);

test('a query is parsed with the types and defaults of its description', () => {
  expect(readQuery('stepLog', query('attempt=2&follow&download=true&other=1'))).toEqual({
    attempt: 2,
    stream: 'output',
    offset: 0,
    follow: true,
    download: true,
  });
  expect(readQuery('listRuns', query('status=failed,canceled&status=queued&workflow=&cursor='))).toMatchObject({
    workflow: null,
    status: ['failed', 'canceled', 'queued'],
    from: null,
    to: null,
    limit: 50,
    cursor: null,
  });
});

test('an empty text counts as missing unless it has a meaning', () => {
  expect(readQuery('listWorkflows', query('name=&group='))).toMatchObject({ name: null, group: '' });
  expect(readBody('renameWorkflow', { to: 'b', group: '' })).toEqual({ to: 'b', group: '' });
  expect(readBody('startRun', { params: '', runId: '', strict: null })).toEqual({
    params: null,
    runId: null,
    strict: false,
    force: null,
    assumeUpToDate: null,
    noCache: false,
  });
});

test('a missing body has no fields', () => {
  const checks = { force: null, assumeUpToDate: null, noCache: false };
  expect(readBody('startRun', undefined)).toEqual({ params: null, runId: null, strict: false, ...checks });
});

test('a form can contain true and false as texts', () => {
  expect(readBody('retryRun', { useFile: 'true', strict: 'false' })).toMatchObject({ useFile: true, strict: false });
  expect(readBody('suspendWorkflow', { suspended: 'false' })).toEqual({ suspended: false, until: null });
  expect(readBody('startRun', { force: 'false' })).toMatchObject({ force: false });
  expect(readBody('startRun', { force: 'build' })).toMatchObject({ force: 'build' });
});

test.each<[string, string, (string | null)?]>([
  ['attempt=0', '"attempt" must be a whole number from 1 to 999999999999999'],
  ['attempt=-1', '"attempt" must be a whole number from 1 to 999999999999999'],
  ['attempt=1.5', '"attempt" must be a whole number from 1 to 999999999999999'],
  ['offset=x', '"offset" must be a whole number from 0 to 999999999999999'],
  ['offset=1000000000000000', '"offset" must be a whole number from 0 to 999999999999999'],
  ['offset=99999999999999999999', '"offset" must be a whole number from 0 to 999999999999999'],
  ['follow=yes', '"follow" must be true or false'],
  ['stream=both', '"stream" cannot be "both"', 'possible: output, stdout, stderr'],
])('the query %s is rejected', (text, message, help = null) => {
  expect(() => readQuery('stepLog', query(text))).toThrow(expect.objectContaining({ status: 400, message, help }));
});

test('every whole number of a query has a described limit, up to which it is accepted', () => {
  const operations = Object.values(apiDocument().paths).flatMap((methods) => Object.values(methods));
  const numbers = operations.flatMap(({ operationId: id, parameters = [] }) =>
    parameters
      .filter(({ in: place, schema }) => place === 'query' && schema.type === 'integer')
      .map(({ name, schema }) => ({ id, name, schema })),
  );

  expect(numbers.length).toBeGreaterThan(10);
  for (const { id, name, schema } of numbers) {
    const { minimum = Number.NaN, maximum = Number.NaN } = schema;
    const others = name === 'offset' ? 'q=x&worker=w' : 'q=x&worker=w&offset=0';
    const read = (value: number) => readQuery(id as keyof typeof queries, query(`${name}=${value}&${others}`));
    expect(read(maximum)).toMatchObject({ [name]: maximum });
    expect(() => read(maximum + 1)).toThrow(`"${name}" must be a whole number from ${minimum} to ${maximum}`);
  }
});

test('the error names a missing parameter or the range of a number', () => {
  const missing = { message: '"q" is missing', help: 'The text to search for.' };
  expect(() => readQuery('searchLogs', query('q='))).toThrow(expect.objectContaining(missing));
  const unsaid = { message: '"suspended" is missing', help: 'it must be true or false' };
  expect(() => readBody('suspendWorkflow', {})).toThrow(expect.objectContaining(unsaid));
  expect(() => readQuery('listRuns', query('limit=0'))).toThrow('"limit" must be a whole number from 1 to 500');
});

const help = 'fields: params, runId, strict, force, assumeUpToDate, noCache';

test.each<[unknown, string, (string | null)?]>([
  [[], 'the body must be an object'],
  [null, 'the body must be an object'],
  ['text', 'the body must be an object'],
  [{ runid: 'x' }, 'there is no field "runid"', help],
  [JSON.parse('{"__proto__": 1}'), 'there is no field "__proto__"', help],
  [{ runId: 5 }, '"runId" must be a text'],
  [{ strict: 'yes' }, '"strict" must be true or false'],
  [{ force: 5 }, '"force" must be true or false, the name of a step, or a list of names'],
  [{ assumeUpToDate: 5 }, '"assumeUpToDate" must be the name of a step, or a list of names'],
  [{ params: 5 }, '"params" must be a text, a list or a map'],
  [{ params: ['A=1', 5] }, '"params[1]" must be a text, or have "name" and "value"'],
  [{ params: [{ name: 'A' }] }, '"params[0]" must be a text, or have "name" and "value"'],
  [{ params: [{ name: 'A', value: 5 }] }, '"params[0].value" must be a text'],
  [{ params: [{ name: '1A', value: '' }] }, '"params[0].name" cannot be "1A"'],
  [{ params: { A: ['x'] } }, '"params.A" must be a text'],
  [{ params: { '1A': 'x' } }, '"1A" is not the name of a parameter'],
])('the body %j is rejected', (body, message, expectedHelp = null) => {
  const error = { status: 400, message, help: expectedHelp };
  expect(() => readBody('startRun', body)).toThrow(expect.objectContaining(error));
});

test('only the first error of a body is reported, even if it has many', () => {
  expect(() => readBody('actOnRuns', { ids: [], action: 'dance' })).toThrow(
    '"ids" must be a list of 1 to 500 ids of runs',
  );
  expect(() => readBody('actOnRuns', { ids: ['a'], action: 'dance' })).toThrow('"action" cannot be "dance"');
  expect(() => readBody('actOnRuns', { ids: Array(400_000).fill(1), action: 'stop' })).toThrow(
    '"ids[0]" must be a text',
  );
});

test('an empty parameter counts as missing in every query, and that of a flag as true', () => {
  let count = 0;
  for (const [id, { schema }] of Object.entries(queries)) {
    const read = (text: string) => {
      try {
        return readQuery(id as keyof typeof queries, query(`${text}&${'q' in (schema.properties ?? {}) ? 'q=x' : ''}`));
      } catch (error) {
        return error;
      }
    };
    for (const [name, { type, 'x-may-be-empty': mayBeEmpty }] of Object.entries(schema.properties ?? {})) {
      if (mayBeEmpty || name === 'q') continue;
      const expected = type === 'boolean' ? `${name}=true` : '';
      expect([id, name, read(`${name}=`)]).toEqual([id, name, read(expected)]);
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(50);
  for (const id of ['searchLogs', 'v1SearchDags'] as const) {
    for (const text of ['', 'q', 'q=']) expect(() => readQuery(id, query(text))).toThrow('"q" is missing');
  }
  expect(readQuery('listWorkflows', query('group='))).not.toEqual(readQuery('listWorkflows', query('')));
});
