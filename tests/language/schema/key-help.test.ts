import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { executorConfigSchema, executorTypes, resolve, workflowSchema } from '#language/schema/schema.ts';
import { documentationOf } from '#language/schema/schema-doc.ts';
import type { Schema } from '#language/schema/schema-type.ts';

type Wrap = (value: unknown) => unknown;

/** Each map of the format that has only documented keys, with a key that it does not have, in a workflow. */
function* mapsWithUnknownKey(reference: Schema, wrap: Wrap, above: readonly Schema[] = []): Generator<unknown> {
  const schema = resolve(reference);
  if (above.includes(schema)) return;
  const levels = [...above, schema];
  const { properties, items } = schema;
  const hasKeys = Object.keys(properties ?? {}).length > 0;
  if (hasKeys && schema.additionalProperties === false) yield wrap({ qqqqq: 1 });
  for (const [key, part] of Object.entries(properties ?? {})) {
    if (key === 'config' && properties?.type !== undefined && properties['with'] === undefined) {
      for (const type of executorTypes()) {
        yield* mapsWithUnknownKey(executorConfigSchema(type) ?? {}, (value) => wrap({ type, config: value }), levels);
      }
    } else yield* mapsWithUnknownKey(part, (value) => wrap({ [key]: value }), levels);
  }
  if (items !== undefined) yield* mapsWithUnknownKey(items, (value) => wrap([value]), levels);
}

describe('the help of an unknown key', () => {
  it('names a path that "wf schema" knows, whatever the map', () => {
    const commands = new Set<string>();
    for (const workflow of mapsWithUnknownKey(workflowSchema, (value) => value)) {
      const { diagnostics } = loadWorkflow({ text: JSON.stringify(workflow), file: null, dir: '/' });
      const unknown = diagnostics.find(({ message }) => message.startsWith('unknown key "qqqqq"'));
      const command = /\(wf schema ?(.*)\)\.$/.exec(unknown?.help ?? '')?.[1];
      expect(command, JSON.stringify(workflow)).toBeDefined();
      commands.add(command ?? '');
    }
    expect([...commands]).toEqual(expect.arrayContaining(['', 'steps.retryPolicy', 'executor.docker.host']));
    expect([...commands].filter((path) => documentationOf(path) === null)).toEqual([]);
  });
});
