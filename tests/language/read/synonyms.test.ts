import { describe, expect, it } from 'vitest';
import type { Path } from '#language/diagnostic.ts';
import { adviceFor, advisedNames } from '#language/read/advice.ts';
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
    const names = advisedNames(path);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const advice = adviceFor(name, path);
      const key = advice?.key ?? null;
      expect([name, key === null ? advice?.text !== '' : known.has(canonicalKey(key))]).toEqual([name, true]);
      expect([name, known.has(canonicalKey(name))]).toEqual([name, false]);
    }
  });

  it('do not exist for a map without a table', () => {
    expect(adviceFor('times', ['steps', 0, 'executor'])).toBeNull();
    expect(advisedNames(['errorMail'])).toEqual([]);
  });

  it('in settings lead to a documented key of their executor and hide none', () => {
    const types = executorTypes().filter((type) => advisedNames([], type).length > 0);
    expect(types.sort()).toEqual(['docker', 'http', 'mail', 'ssh', 'terraform']);
    for (const type of types) {
      const known = knownKeys(executorConfigSchema(type) ?? {});
      for (const name of advisedNames([], type)) {
        const key = adviceFor(name, [], type)?.key ?? null;
        expect([type, name, key === null || known.has(canonicalKey(key))]).toEqual([type, name, true]);
        expect([type, name, known.has(canonicalKey(name))]).toEqual([type, name, false]);
      }
    }
  });

  it('are found in any spelling', () => {
    expect(adviceFor('Continue_On_Error', ['steps', 2])?.key).toBe('continueOn');
  });
});
