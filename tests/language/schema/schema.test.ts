import Ajv from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { resolve, workflowSchema } from '#language/schema/schema.ts';
import { documentationOf, documentedSchema, nearPaths } from '#language/schema/schema-doc.ts';
import type { Schema } from '#language/schema/schema-type.ts';

const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false });
ajv.addVocabulary(['x-alias-of', 'x-dagu-2', 'x-seconds', 'x-number']);
ajv.addSchema(documentedSchema, 'workflow');

/** Every property of the schema, by its JSON pointer. */
function properties(schema: Schema, pointer: string): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, part]): [string, Schema][] => {
    const at = `${pointer}/properties/${key}`;
    return [[at, part], ...properties(part, at)];
  });
  const items = schema.items === undefined ? [] : properties(schema.items, `${pointer}/items`);
  const defs = Object.entries(schema.$defs ?? {}).flatMap(([name, part]) =>
    properties(part, `${pointer}/$defs/${name}`),
  );
  return [...own, ...items, ...defs];
}

const all = properties(documentedSchema, '#');

describe('the schema', () => {
  it('describes every key', () => {
    expect(all.length).toBeGreaterThan(150);
    expect(
      all
        .filter(([, part]) => (part.description ?? resolve(part, documentedSchema).description ?? '') === '')
        .map(([at]) => at),
    ).toEqual([]);
  });

  it('has examples and defaults that are valid', () => {
    const checked = all.flatMap(([at, part]) => {
      const validate = ajv.compile({ $ref: `workflow${at}` });
      const values = [...(part.examples ?? []), ...(part.default === undefined ? [] : [part.default])];
      return values.map((value) => [at, value, validate(value)]);
    });
    expect(checked.length).toBeGreaterThan(100);
    expect(checked.filter(([, , isValid]) => isValid !== true)).toEqual([]);
  });

  it('is loaded without its documentation', () => {
    const read = properties(workflowSchema, '#');
    expect(read.map(([at]) => at)).toEqual(all.map(([at]) => at));
    expect(read.filter(([, part]) => part.description !== undefined || part.examples !== undefined)).toEqual([]);
    expect(read.map(([, part]) => part.type)).toEqual(all.map(([, part]) => part.type));
  });

  it('accepts a workflow and rejects an unknown key', () => {
    const validate = ajv.compile({ $ref: 'workflow' });
    expect(validate({ steps: [{ name: 'a', command: 'echo' }], 'x-free': 1 })).toBe(true);
    expect(validate({ steps: [{ name: 'a', comand: 'echo' }] })).toBe(false);
    expect(validate({ steps: [{ name: 'a', executor: { type: 'http', config: { timeout: 'x' } } }] })).toBe(false);
    expect(validate({ steps: [{ name: 'a' }] })).toBe(false);
  });
});

describe('the documentation of a key', () => {
  it.each([
    ['', '', 'steps'],
    ['steps', 'steps', 'command'],
    ['retry_policy', 'retryPolicy', 'intervalSec'],
    ['continue_on', 'steps.continueOn', 'exitCode'],
    ['steps.retryPolicy', 'steps.retryPolicy', 'limit'],
    ['executor.http', 'steps.executor.http', 'timeout'],
    ['handlerOn.exit', 'handlerOn.exit', 'command'],
    ['functions', 'functions', 'params'],
  ])('%s', (path, documented, key) => {
    const doc = documentationOf(path);
    expect(doc?.path).toBe(documented);
    expect(doc?.keys.map((entry) => entry.key)).toContain(key);
    expect(doc?.keys.map((entry) => entry.key)).not.toContain('otel');
    expect(() => new Ajv({ allowUnionTypes: true, strict: false }).compile(doc?.schema ?? {})).not.toThrow();
  });

  it('has type, default and examples', () => {
    expect(documentationOf('steps.executor.docker.pull')?.doc).toMatchObject({
      type: 'missing | always | never | true | false',
      default: 'missing',
      required: false,
    });
    expect(documentationOf('repeatPolicy.repeat')?.doc.type).toBe('true | false | while | until');
    expect(documentationOf('smtp.port')?.doc).toMatchObject({ type: 'text', default: '25', examples: ['587'] });
    expect(documentationOf('steps')?.doc).toMatchObject({ type: 'list or map', required: true });
  });

  it('of an unknown key is null, with similar paths', () => {
    expect(['stesp', 'steps.x', 'executor.htpp.y'].map(documentationOf)).toEqual([null, null, null]);
    expect(nearPaths('stesp')).toEqual(['steps']);
    expect(nearPaths('steps.retrypolcy')).toEqual(['steps.retryPolicy']);
    expect(nearPaths('executor.htpp')).toEqual(['steps.executor.http']);
    expect(nearPaths('depnds')).toEqual(['depends']);
    expect(nearPaths('steps')).toEqual([]);
  });
});
