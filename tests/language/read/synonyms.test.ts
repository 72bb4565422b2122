import { describe, expect, it } from 'vitest';
import type { Path } from '#language/diagnostic.ts';
import { notSupportedAt, synonymNames, synonymOf } from '#language/read/foreign-keys.ts';
import { executorConfigSchema, executorTypes, knownKeys, resolve, workflowSchema } from '#language/schema/schema.ts';
import { canonicalKey, type Schema } from '#language/schema/schema-type.ts';

const step = workflowSchema.$defs?.step ?? {};
const maps: readonly [name: string, path: Path, schema: Schema][] = [
  ['the top', [], workflowSchema],
  ['a step', ['steps', 0], step],
  ...(['retryPolicy', 'repeatPolicy', 'continueOn'] as const).map((key): [string, Path, Schema] => [
    key,
    ['steps', 0, key],
    resolve(step.properties?.[key] ?? {}),
  ]),
  ['container', ['container'], resolve(workflowSchema.properties?.['container'] ?? {})],
  [
    'the container of docker',
    ['steps', 0, 'executor', 'config', 'container'],
    resolve(executorConfigSchema('docker')?.properties?.['container'] ?? {}),
  ],
  ['parallel', ['steps', 0, 'parallel'], resolve(step.properties?.['parallel'] ?? {})],
  ...(['handlerOn', 'mailOn', 'smtp'] as const).map((key): [string, Path, Schema] => [
    key,
    [key],
    resolve(workflowSchema.properties?.[key] ?? {}),
  ]),
];

describe('keys of other tools', () => {
  it.each(maps)('in %s lead to a documented key and hide none', (_name, path, schema) => {
    const known = knownKeys(schema);
    const names = synonymNames(path);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const synonym = synonymOf(name, path);
      const key = synonym?.key ?? null;
      expect([name, key === null ? synonym?.advice !== '' : known.has(canonicalKey(key))]).toEqual([name, true]);
      expect([name, known.has(canonicalKey(name))]).toEqual([name, false]);
      expect([name, notSupportedAt(name, path)]).toEqual([name, null]);
    }
  });

  it('do not exist for a map without a table', () => {
    expect(synonymOf('times', ['steps', 0, 'executor'])).toBeNull();
    expect(synonymNames(['errorMail'])).toEqual([]);
  });

  it('in settings lead to a documented key of their executor and hide none', () => {
    const types = executorTypes().filter((type) => synonymNames([], type).length > 0);
    expect(types.sort()).toEqual(['docker', 'http', 'mail', 'ssh', 'terraform']);
    for (const type of types) {
      const known = knownKeys(executorConfigSchema(type) ?? {});
      for (const name of synonymNames([], type)) {
        const key = synonymOf(name, [], type)?.key ?? null;
        expect([type, name, key === null || known.has(canonicalKey(key))]).toEqual([type, name, true]);
        expect([type, name, known.has(canonicalKey(name))]).toEqual([type, name, false]);
      }
    }
  });

  it('are found in any spelling', () => {
    expect(synonymOf('Continue_On_Error', ['steps', 2])?.key).toBe('continueOn');
  });
});
