import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { yaml } from '@codemirror/lang-yaml';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import type { Schema } from '#language/schema/schema-type.ts';
import { keysOf, schemaAt, wordsOf } from '#page/editor/schema-help.ts';
import { keyAt, positionAt, type YamlPosition } from '#page/editor/yaml-position.ts';

const schema: Schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../src/language/schema/workflow.schema.json'), 'utf8'),
);

/** The position of `|` in a text. */
function at(marked: string): YamlPosition | null {
  return positionAt(stateOf(marked.replace('|', '')), marked.indexOf('|'));
}

function stateOf(doc: string): EditorState {
  return EditorState.create({ doc, extensions: [yaml()] });
}

const pathAt = (marked: string) =>
  at(marked)
    ?.path.map(({ key }) => key ?? '[]')
    .join('.');

test.each([
  ['|', ''],
  ['steps:\n  |', 'steps'],
  ['steps:\n  - |', 'steps.[]'],
  ['steps:\n- |', 'steps.[]'],
  ['steps:\n  - name: one\n    |', 'steps.[]'],
  ['steps:\n  - name: one\n    retryPolicy:\n      li|', 'steps.[].retryPolicy'],
  ['steps:\n  - name: one\n    retryPolicy:\n      limit: 3\n    |', 'steps.[]'],
  ['steps:\n  - name: one\n    depends:\n      - |', 'steps.[].depends.[]'],
  ['steps:\n  - name: one\n    depends:\n    - |', 'steps.[].depends.[]'],
  ['steps:\n  one:\n    # why\n\n    |\n', 'steps.one'],
  ['steps:\n  - name: one\n    command: echo\nhandlerOn:\n  exit:\n    |', 'handlerOn.exit'],
  ['a: 1\n---\nsteps:\n  |', 'steps'],
])('%j: the map of a key is determined from the indentation', (text, path) => {
  expect([pathAt(text), at(text)?.kind]).toEqual([path, 'key']);
});

test.each([
  ['type: |', 'type'],
  ['steps:\n  - name: one\n    executor: do|', 'steps.[].executor'],
  ['steps:\n  - executor: do|', 'steps.[].executor'],
  ['steps:\n  - executor:\n      type: docker\n      config:\n        pull: |', 'steps.[].executor.config.pull'],
])('%j: a value has the path of its key', (text, path) => {
  expect([pathAt(text), at(text)?.kind]).toEqual([path, 'value']);
});

test.each([
  ['steps:\n  - name: one\n    retryPolicy: {|', 'key', 'steps.[].retryPolicy', []],
  ['steps:\n  - name: one\n    retryPolicy: { limit: 2, in| }', 'key', 'steps.[].retryPolicy', ['limit']],
  ['steps:\n  - {name: one, |, dir: "a, }"}', 'key', 'steps.[]', ['name', 'dir']],
  ['steps:\n  - {name: one, di|r: x}', 'key', 'steps.[]', ['name']],
  ['steps: [{name: one, executor: {type: docker, config: {pu|', 'key', 'steps.[].executor.config', []],
  ['params: [{"name": DAY, type: |}]', 'value', 'params.[].type', []],
  ['tags: [one, |', 'key', 'tags.[]', []],
] as const)('%j: positions in flow style are determined from the brackets of the line', (text, kind, path, present) => {
  const position = at(text);

  expect([position?.kind, pathAt(text), [...(position?.present.keys() ?? [])], position?.isFlow]).toEqual([
    kind,
    path,
    present,
    true,
  ]);
});

test.each([
  [
    'steps:\n  - name: one\n    retryPolicy: {\n      limit: 2, # {why}\n      in|\n    }\n    dir: x',
    'steps.[].retryPolicy',
    ['limit'],
  ],
  [
    'steps:\n  - name: one\n    retryPolicy: {\n      |\n      limit: 2,\n    }\n    dir: x',
    'steps.[].retryPolicy',
    ['limit'],
  ],
  ['retryPolicy: {\n  lim|\nsteps: []', 'retryPolicy', []],
  [
    'steps: [\n  {name: one,\n   executor: {\n     type: docker,\n     config: { im| } } },\n  {name: two}\n]',
    'steps.[].executor.config',
    [],
  ],
  ['steps:\n  - { name: one,\n      env: {A: "b\n        c"}, di|', 'steps.[]', ['name', 'env']],
] as const)('%j: values in flow style may take several lines', (text, path, present) => {
  const position = at(text);
  const [before = ''] = text.split('|');

  expect([position?.kind, pathAt(text), [...(position?.present.keys() ?? [])]]).toEqual(['key', path, present]);
  expect(before.slice(position?.from ?? 0)).toMatch(/^\w*$/);
});

test('a value in flow style has an end, after which its lines count as one key', () => {
  const text = 'steps:\n  - name: one\n    retryPolicy: {\n      limit: 2\n    }\n    |';

  expect([pathAt(text), [...(at(text)?.present.keys() ?? [])]]).toEqual(['steps.[]', ['retryPolicy', 'name']]);
});

test('the word at a position in flow style begins after the bracket, the comma or the colon', () => {
  expect(at('retryPolicy: {limit: 2, int|')?.from).toBe(24);
  expect(at('retryPolicy: {limit: 2, |')?.from).toBe(24);
  expect(at('executor: {type: dock|')?.from).toBe(17);
});

test('an executor in flow style has the settings of its type', () => {
  const position = at('steps: [{name: one, executor: {type: docker, config: {|}}}]');
  const offered = keysOf(schema, schemaAt(schema, position?.path ?? []) ?? {}, new Map()).map(({ key }) => key);

  expect(offered).toContain('image');
});

test.each([
  'retryPolicy: {limit: 2} |',
  'env: {A: "x|"}',
  'env: {A: "x|',
  'steps:\n  - name: one # |',
  '# |',
  'steps:\n  - name: one\n    script: >-\n      ec|',
  'steps:\n  - name: one\n    command: echo\n      he|',
  'steps:\n  - name: one\n    script: >-\n      {\n        ec|',
  'env: {\n  A: "x|\n}',
])('%j: there are no keys in comments and in texts', (text) => {
  expect(at(text)).toBeNull();
});

test('an entry of a list is determined from the entries above it', () => {
  expect([pathAt('steps:\n  - name: one\n  |'), at('steps:\n  - name: one\n  |')?.kind]).toEqual(['steps', 'entry']);
});

test('keys of the same map are not offered again, in any spelling, above or below', () => {
  const position = at('steps:\n  - name: one\n    |\n    retry_policy:\n      limit: 2\n  - name: two\n    dir: x\n');
  const step = schemaAt(schema, position?.path ?? []);
  const offered = keysOf(schema, step ?? {}, position?.present ?? new Map()).map(({ key }) => key);

  expect(offered).toContain('command');
  expect(offered).toContain('dir');
  expect(offered.filter((key) => ['name', 'retryPolicy', 'workingDir'].includes(key))).toEqual([]);
});

test('keys of Dagu 2 and second names are explained, but not offered', () => {
  const offered = (text: string) =>
    keysOf(schema, schemaAt(schema, at(text)?.path ?? []) ?? {}, new Map()).map(({ key }) => key);
  const others = ['labels', 'overlapPolicy', 'precondition', 'exec', 'with', 'config'];

  expect(offered('|')).toEqual(expect.arrayContaining(['tags', 'overlap', 'type', 'workingDir']));
  expect(offered('steps:\n  - |')).toEqual(expect.arrayContaining(['dir', 'command', 'executor', 'call']));
  expect([...offered('|'), ...offered('handlerOn:\n  exit:\n    |')].filter((key) => others.includes(key))).toEqual([]);
  expect(offered('steps:\n  - |').filter((key) => ['type', 'workingDir', ...others].includes(key))).toEqual([]);
  expect(schemaAt(schema, at('labels: |')?.path ?? [])?.description).toContain('Further tags');
});

test('the settings of an executor depend on its type', () => {
  const settings = (type: string) => {
    const position = at(`steps:\n  - name: one\n    executor:\n      type: ${type}\n      config:\n        |`);
    return keysOf(schema, schemaAt(schema, position?.path ?? []) ?? {}, new Map()).map(({ key }) => key);
  };

  expect(settings('docker')).toContain('image');
  expect(settings('ssh')).toContain('host');
  expect(settings('ssh')).not.toContain('image');
});

test('a value is an enum value of its schema, or one of its examples', () => {
  const words = (text: string) => wordsOf(schemaAt(schema, at(text)?.path ?? []) ?? {});

  expect(words('type: |')).toEqual(['graph', 'chain']);
  expect(words('steps:\n  - executor: |')).toContain('docker');
  expect(words('steps:\n  - continueOn:\n      failure: |')).toEqual(['true', 'false']);
  expect(words('schedule: |')).toEqual(['0 5 * * *']);
});

test('the key under the pointer has the documentation of its path', () => {
  const above = 'steps:\n  - name: one\n';
  const state = stateOf(`${above}    retry_policy: {limit: 2}`);
  const keyIn = (column: number) => keyAt(state, above.length + column);
  const rangeOf = (key: ReturnType<typeof keyAt>) => [key?.from, key?.to].map((at) => (at ?? 0) - above.length);
  const found = keyIn(8);

  expect(rangeOf(found)).toEqual([4, 16]);
  expect(schemaAt(schema, found?.position.path ?? [])?.description).toBe('Retries after a failure.');
  expect(keyIn(26)).toBeNull();
  const inner = keyIn(20);
  expect(rangeOf(inner)).toEqual([19, 24]);
  expect(schemaAt(schema, inner?.position.path ?? [])?.description).toBe('Maximum number of retries.');
});
