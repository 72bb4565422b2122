import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { apiWorld } from '../../support/api-world.ts';
import { apiDocument } from '../../support/described-answers.ts';

const day = [
  '2026-03-01',
  '2026-3-01',
  '2026-13-01',
  '2026-00-01',
  '2026-04-31',
  '2026-02-30',
  '2024-02-29',
  '2026-12-31',
  '',
];
const time = [
  '',
  'T10:00Z',
  'T24:00Z',
  'T24:00:00.00Z',
  'T24:01Z',
  'T10:60Z',
  'T10:00:59.123456789+02:00',
  'T10:00:00.Z',
  'T10:00',
];
const zone = ['+2359', '-23:59', '+24:00', '+10:60', 'z'].map((each) => `T10:00${each}`);
const moments = day.flatMap((each) => [...time, ...zone].map((rest) => each + rest));

const names = ['b', ' b ', 'b.yaml', '.yaml', '-b', 'b/c', '..', 'b\n', ''];

/** Bodies by the routes that take them, valid and invalid. A field is a text, so that a form can have it, too. */
const bodies: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  'POST /api/v2/session': [
    {},
    { token: 'x' },
    { token: '' },
    { token: 'x', name: '' },
    { token: 'x', name: 'me' },
    { token: 'x', password: 'x' },
    { token: '', password: 'x' },
    { name: 'me', password: 'x' },
    { name: 'me', password: '' },
    { password: 'x', other: 'x' },
  ],
  'PUT /api/v2/workflows/a/suspended': [
    {},
    { suspended: 'true' },
    { suspended: 'yes' },
    { suspended: 'false', until: '' },
    { suspended: 'false', until: '2999-01-01' },
    ...moments.map((until) => ({ suspended: 'true', until: until.replace(/^20/, '29') })),
  ],
  'POST /api/v2/workflows/a/rename': [
    {},
    { group: 'b' },
    ...[...names, 'ä b+1'].map((to) => ({ to })),
    ...['', 'b', ' b ', 'b/c', '/b', 'b/', 'b//c', '-b', 'a/b/c/d/e/f/g/h', 'a/b/c/d/e/f/g/h/i'].map((group) => ({
      to: 'b',
      group,
    })),
  ],
  'POST /api/v2/workflows/a/runs': [
    ...['', 'b', '_b-1.2', '-b', '.b', 'b c', 'b'.repeat(128), 'b'.repeat(129)].map((runId) => ({ runId })),
    { strict: 'true' },
    { strict: '1' },
    { other: '' },
  ],
  'POST /api/v2/runs/r/retry': [
    { step: 'one' },
    { from: 'one' },
    { step: 'one', from: 'one' },
    { step: '', from: 'one' },
  ],
  'POST /api/v2/runs/r/steps/one/mark': [{}, { status: 'failed' }, { status: 'skipped' }, { status: '' }],
  'POST /api/v2/runs/r/steps/one/approve': [{}, { comment: '' }, { comment: 'x' }, { inputs: 'x' }, { other: 'x' }],
  'PUT /api/v2/queue/r': [{}, { position: 'first' }, { position: 'last' }],
  'POST /api/v1/dags': [
    {},
    { action: 'start' },
    { action: 'new' },
    ...[...names, 'ä b+1'].map((value) => ({ action: 'new', value })),
  ],
  'POST /api/v1/dags/a': [
    {},
    { value: 'x' },
    { action: 'dance' },
    { action: '' },
    { action: 'start', other: 'x' },
    { action: 'start', requestId: '_b-1.2' },
    { action: 'start', requestId: '-b' },
    { action: 'start', 'request-id': 'b c' },
    { action: 'suspend' },
    { action: 'suspend', value: 'true' },
    { action: 'suspend', value: 'maybe' },
    { action: 'retry', requestId: 'r' },
    { action: 'retry', 'request-id': 'r' },
    { action: 'retry', requestId: '' },
    { action: 'mark-failed', requestId: 'r' },
    { action: 'mark-failed', requestId: 'r', step: 'one' },
    { action: 'save', value: '' },
    { action: 'save', value: 'steps: [{name: one, command: "true"}]' },
    // To its own name, so that the file keeps it.
    ...names.map((name) => ({ action: 'rename', value: name.replace('b', 'a') })),
  ],
};

/** In JSON, flags are no texts. */
function inJson(fields: Readonly<Record<string, string>>): object {
  const entries = Object.entries(fields).map(([name, text]) => [
    name,
    /^(true|false)$/.test(text) ? text === 'true' : text,
  ]);
  return Object.fromEntries(entries);
}

test.each(Object.keys(bodies))('%s accepts the bodies that the document describes and no others', async (route) => {
  const { ask, runs } = await apiWorld({ 'a.yaml': 'steps: [{name: one, command: "true"}]\n' });
  await ask('POST', '/api/v2/workflows/a/runs', { body: { runId: 'r' } });
  await runs.settled();
  const [method = '', path = ''] = route.split(' ');
  const described = validators(method, path);
  const outcomes = new Set<boolean>();

  for (const fields of bodies[route] ?? []) {
    const json = inJson(fields);
    const all: readonly (readonly [string, object, object])[] = [
      ['application/json', json, json],
      ['application/x-www-form-urlencoded', fields, new URLSearchParams(fields)],
    ];
    for (const [type, value, body] of all) {
      // A login is JSON only.
      const valid = described[type]?.(value);
      if (valid === undefined) continue;
      const answer = await ask(method, path, { body, headers: { 'If-Match': '"other"' } });
      expect([type, fields, answer.status !== 400, answer.body]).toEqual([type, fields, valid, expect.anything()]);
      outcomes.add(valid);
    }
  }
  await runs.settled();
  expect([...outcomes].sort()).toEqual([false, true]);
});

test.each(['from', 'to'])('"%s" accepts the times that the document describes and no others', async (name) => {
  const { ask } = await apiWorld({});
  const { parameters = [] } = apiDocument().paths['/api/v2/runs']?.['get'] ?? {};
  const validate = ajv.compile(parameters.find((each) => each.name === name)?.schema ?? false);

  for (const moment of moments) {
    const { status } = await ask('GET', `/api/v2/runs?${name}=${encodeURIComponent(moment)}`);
    expect([moment, status]).toEqual([moment, validate(moment) ? 200 : 400]);
  }
});

const ajv = new Ajv2020({ strict: false, validateSchema: false });

type Validate = (value: unknown) => boolean;

/** The checks of a body by its media type. */
function validators(method: string, path: string): Readonly<Record<string, Validate>> {
  const document = apiDocument();
  if (ajv.getSchema('api') === undefined) ajv.addSchema(document, 'api');
  const [, methods] =
    Object.entries(document.paths).find(([each]) => new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)) ??
    [];
  const content = methods?.[method.toLowerCase()]?.requestBody?.content ?? {};
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [
      type,
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'))) as Validate,
    ]),
  );
}
