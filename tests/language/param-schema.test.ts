import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it, test } from 'vitest';
import { type LoadResult, loadWorkflow } from '#language/load.ts';
import { parseParams } from '#language/params.ts';
import { acceptParams } from '#service/runs/given-params.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const DEPLOY = JSON.parse(`{
  "type": "object",
  "required": ["STAGE"],
  "additionalProperties": false,
  "properties": {
    "STAGE": { "type": "string", "enum": ["dev", "prod"], "description": "Where to ship" },
    "COUNT": { "type": "integer", "minimum": 1, "default": 2 },
    "REGIONS": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" }, "default": ["eu"] },
    "DB": { "$ref": "#/$defs/db" },
    "FORCE": { "type": ["boolean", "null"] }
  },
  "$defs": { "db": { "type": "object", "required": ["host"], "properties": { "host": { "type": "string" } } } },
  "if": { "properties": { "STAGE": { "const": "prod" } } },
  "then": { "required": ["DB"] }
}`);

it.each([
  ['in the file', { params: DEPLOY }],
  ['as a map', { params: { schema: DEPLOY } }],
  ['in another file', { params: { schema: 'schemas/deploy.json' } }],
])('the properties of a schema %s are declared parameters', (_, content) => {
  const { workflow, diagnostics } = load(content, { 'schemas/deploy.json': JSON.stringify(DEPLOY) });

  expect(diagnostics).toEqual([]);
  expect(workflow?.paramSchema).toEqual(DEPLOY);
  expect(workflow?.params).toEqual([
    {
      name: 'STAGE',
      value: '',
      rule: { type: 'string', required: true, choices: ['dev', 'prod'], description: 'Where to ship' },
    },
    { name: 'COUNT', value: '2', rule: { type: 'integer', minimum: 1 } },
    { name: 'REGIONS', value: '["eu"]', rule: { type: 'array' } },
    { name: 'DB', value: '', rule: { type: 'object' } },
    { name: 'FORCE', value: '', rule: { type: 'boolean' } },
  ]);
});

test('values beside a schema replace its defaults', () => {
  const { workflow } = load({ params: { schema: DEPLOY, values: { COUNT: 3, STAGE: 'dev', DB: { host: '$x' } } } });

  expect(workflow?.params.map(({ value }) => value)).toEqual(['dev', '3', '["eu"]', '{"host":"\\$x"}', '']);
});

const doubling = (count: number, last: object) =>
  Object.fromEntries(
    Array.from({ length: count + 1 }, (_, i) => {
      const next = { $ref: `#/$defs/a${i + 1}` };
      return [`a${i}`, i === count ? last : { anyOf: [next, next] }];
    }),
  );
const text = { p: { type: 'string' } };
const large = (prefix: string) =>
  Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`${prefix}${i}`, { type: 'string', pattern: `(\\pL{1,999})${i}` }]),
  );

it.each<[string, object, string]>([
  [
    'references that double',
    { properties: text, $ref: '#/$defs/a0', $defs: doubling(28, { type: 'integer' }) },
    '"a28" in the schema takes more than 10,000 steps to check: refer to fewer parts, or less often',
  ],
  [
    'references that double, for a default',
    {
      properties: { p: { type: 'array', items: { $ref: '#/$defs/a0' }, default: [1] } },
      $defs: doubling(28, { type: 'string' }),
    },
    '"$defs.a22.anyOf.1" in the schema takes more than 10,000 steps to check: refer to fewer parts, or less often',
  ],
  [
    'a reference into a value',
    { properties: text, $ref: '#/default/a', default: { a: { $ref: '#/default/a' } } },
    '"$ref" must refer to a part of the same schema, as "#/$defs/NAME", not to "#/default/a"',
  ],
  [
    'many parts',
    { properties: text, allOf: Array.from({ length: 10_000 }, () => ({})) },
    'the schema has 10006 parts; at most 10,000 are read',
  ],
  [
    'large patterns together',
    { properties: large('p') },
    '"(\\pL{1,999})2" is not a regular expression: it is too large, alone or with those before it in the file: reduce the repetitions in "{...}"',
  ],
])('a schema with %s is refused', (_, schema, message) => {
  const { workflow, diagnostics } = load({ params: { schema: { type: 'object', ...schema } } });
  expect(workflow).toBeNull();
  expect(diagnostics[0]).toMatchObject({ code: 'wrong-value', message });
});

it.each<[string, object, string, string | null]>([
  [
    'distinct maps',
    { uniqueItems: true },
    JSON.stringify(Array.from({ length: 16_000 }, (_, i) => ({ a: i, b: [i] }))),
    null,
  ],
  [
    'equal maps',
    { uniqueItems: true },
    '[{"a": 1, "b": 2}, 3, {"b": 2, "a": 1}]',
    '"p" must NOT have duplicate items (items ## 0 and 2 are identical)',
  ],
  ['a tree', { items: { $ref: '#/properties/p' } }, '[[[], []], [[[]]]]', null],
  [
    'a tree with references that double',
    { items: { anyOf: [{ $ref: '#/properties/p' }, { $ref: '#/properties/p' }] } },
    `${'['.repeat(40)}1${']'.repeat(40)}`,
    'the parameters take too many steps to check against the schema',
  ],
])('a list is checked: %s', (_, part, value, message) => {
  const { workflow } = load({ params: { schema: { type: 'object', properties: { p: { type: 'array', ...part } } } } });
  if (workflow === null) throw new Error('the workflow is not valid');
  const check = () => acceptParams(workflow, [{ name: 'p', value }]);
  if (message === null) expect(check).not.toThrow();
  else expect(check).toThrow(message);
});

it.each<[string, string | null]>([
  ['STAGE=dev', null],
  ['STAGE=prod', '"N" must be >= 2'],
  ['STAGE=prod N=2', null],
])('a default is checked together with the values that it needs: %j', (given, message) => {
  const schema = JSON.parse(`{
    "type": "object", "required": ["STAGE"],
    "properties": { "STAGE": { "type": "string" }, "N": { "type": "integer", "default": 1 } },
    "if": { "properties": { "STAGE": { "const": "prod" } } }, "then": { "properties": { "N": { "minimum": 2 } } }
  }`);
  const { workflow, diagnostics } = load({ params: schema });
  if (workflow === null) throw new Error(diagnostics[0]?.message);
  const check = () => acceptParams(workflow, parseParams(given));
  if (message === null) expect(check).not.toThrow();
  else expect(check).toThrow(message);
});

test('a default that no given value can make valid is an error of the file', () => {
  const properties = { A: { type: 'string' }, L: { type: 'array', items: { type: 'integer' }, default: ['x'] } };
  const { diagnostics } = load({ params: { type: 'object', properties, required: ['A'] } });
  expect(diagnostics.map(({ message }) => message)).toEqual(['the default of parameter "L.0" must be integer']);
});

it.each<[string, string | null]>([
  ['STAGE=dev', null],
  ['STAGE=dev FORCE=yes COUNT=7', null],
  [`STAGE=prod DB='{"host": "h"}'`, null],
  ['', '"STAGE" is required: -p STAGE=...'],
  ['STAGE=prod', '"DB" is required: -p DB=...'],
  ['STAGE=dev REGIONS=eu', '"REGIONS" must be a JSON list, got "eu"'],
  [`STAGE=dev REGIONS='["eu", "X"]'`, '"REGIONS.1" must match pattern "^[a-z]+$"'],
  [`STAGE=dev DB='{}'`, `"DB" must have required property 'host'`],
  ['STAGE=dev COUNT=0', '"COUNT" must be at least 1, got "0"'],
])('the whole schema validates %j', (given, message) => {
  const { workflow } = load({ params: DEPLOY });
  if (workflow === null) throw new Error('the workflow is not valid');

  const check = () => acceptParams(workflow, parseParams(given));
  if (message === null) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: 'invalid-params', message }));
});

test('a draft 7 schema may list the schemas of items', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { PAIR: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false } },
  };
  const { workflow } = load({ params: { schema } });
  if (workflow === null) throw new Error('the workflow is not valid');
  const check = (value: string) => () => acceptParams(workflow, [{ name: 'PAIR', value }]);

  expect(check('["a", 1]')).not.toThrow();
  expect(check('["a", "b"]')).toThrow('"PAIR.1" must be number');
  expect(check('["a", 1, 2]')).toThrow('"PAIR" must NOT have more than 2 items');
});

it.each<[string, object, string]>([
  ['{', {}, '"{" is never closed'],
  ['[]', {}, 'the schema "s.json" is not a JSON object'],
  ['{"type": "object"}', {}, 'the schema of parameters must have "type": "object" and "properties"'],
  ['{"$schema": "x", "properties": {}}', {}, 'the schema must be of draft 7 or 2020-12, not "x"'],
  [property({ $ref: 'http://localhost/x' }), {}, '"$ref" must refer to a part of the same schema'],
  [property({ type: 'string', pattern: '(' }), {}, '"(" is not a regular expression'],
  [property({ type: 'string', minLength: -1 }), {}, '"minLength" in the schema must be >= 0'],
  [property({ format: 'date' }), {}, 'parameter "A" needs a "type"'],
  [property({ type: 'integer', default: 'x' }), {}, 'parameter "A": the default "x" must be an integer'],
  [property({ type: 'array', items: { type: 'string' } }), { A: [1] }, 'the default of parameter "A.0" must be string'],
  [property({ type: 'string' }), { B: 1 }, 'the schema has no parameter "B"'],
  [
    '{"properties": {"A": {"type": "string"}}, "allOf": [{"$ref": "#"}]}',
    {},
    'the schema refers to itself without end',
  ],
  ['{"properties": {"A B": {"type": "string"}}}', {}, '"A B" is not the name of a parameter'],
  [`{"properties": {}, "description": "${'x'.repeat(65_536)}"}`, {}, 'the schema "s.json" is larger than 64 KiB'],
])('an invalid schema is reported: %#', (text, values, message) => {
  const { workflow, diagnostics } = load({ params: { schema: 's.json', values } }, { 's.json': text });

  expect(workflow).toBe(null);
  expect(diagnostics.map((found) => found.message)).toEqual([expect.stringContaining(message)]);
  expect(diagnostics[0]?.position).not.toBe(null);
});

it.each([
  ['http://localhost/s.json', 'must be a file, not a URL'],
  ['../s.json', "is outside the workflow's directory"],
  ['link.json', "is outside the workflow's directory"],
  ['none.json', 'does not exist'],
])('the schema %s cannot be read', (schema, message) => {
  const outside = temporary({ 's.json': JSON.stringify(DEPLOY) });
  const link = (dir: string) => symlinkSync(join(outside, 's.json'), join(dir, 'link.json'));
  const { diagnostics } = load({ params: { schema } }, {}, link);

  const messages = diagnostics.map((found) => found.message);
  expect(messages).toEqual([expect.stringContaining(`the schema "${schema}" ${message}`)]);
});

test('a parameter may be called schema', () => {
  const { workflow } = load({ params: { schema: 'public', type: 'object' } });

  expect(workflow?.params).toEqual([
    { name: 'schema', value: 'public' },
    { name: 'type', value: 'object' },
  ]);
});

function property(schema: object): string {
  return JSON.stringify({ properties: { A: schema } });
}

/** Loads a workflow with one step. JSON is YAML. */
function load(content: object, files: Record<string, string> = {}, prepare = (_dir: string) => {}): LoadResult {
  const steps = [{ name: 'a', command: 'echo' }];
  const dir = temporary({ ...files, 'workflow.yaml': JSON.stringify({ ...content, steps }) });
  prepare(dir);
  return loadWorkflow({ file: join(dir, 'workflow.yaml') });
}

function temporary(files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'wf-test-'));
  folders.push(dir);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}
