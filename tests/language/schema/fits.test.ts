import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json } from '#core/workflow.ts';
import { parse } from '#language/read/parse.ts';
import { read } from '#language/read/read.ts';
import { fits } from '#language/read/validate.ts';
import type { Validate } from '#language/schema/generated/validate.cjs';
import { workflowSchema } from '#language/schema/schema.ts';
import fc from '../../support/fast-check.ts';
import { ownTexts } from '../read/plain/yaml-texts.ts';

const generated = join(import.meta.dirname, '../../../src/language/schema/generated/validate.cjs');
const { validate }: { readonly validate: Validate } = createRequire(import.meta.url)(generated);

/** The values of all files and examples of this repository, as they are when they are checked. */
const values = ownTexts().flatMap((text): Json[] => {
  const source = { path: 'a.yaml', text };
  const { document } = parse(source);
  return document === null ? [] : [read(source, document, workflowSchema).value];
});

const replacements: readonly Json[] = [
  ...[null, true, '', 'a', '$A', '${A}', 'docker', 'until', 0, 1, -1, 1.5, 256, 1e10, [], {}, ['a'], [1], [null]],
  ...[{ type: 'docker' }, { type: 'http', config: { timeout: 'x' } }, { command: 'a' }, { name: 1 }, { limit: 'x' }],
];

/** Paths of the value and of all values in it. */
function pathsIn(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...path, key]))];
}

function replaced(value: Json, [key, ...rest]: readonly string[], by: Json): Json {
  if (key === undefined) return by;
  const copy = structuredClone(value) as { [key: string]: Json };
  copy[key] = replaced(copy[key] ?? null, rest, by);
  return copy;
}

describe('a value that fits the schema passes the generated validator', () => {
  test('as all valid files and examples of this repository do', () => {
    for (const value of values) {
      expect({ value, isValid: fits(value, workflowSchema) }).toEqual({ value, isValid: validate(value) });
    }
    expect(values.filter((value) => fits(value, workflowSchema)).length).toBeGreaterThan(150);
  });

  test('in any of these with another value somewhere', () => {
    const changed = fc.constantFrom(...values).chain((value) => {
      const path = fc.constantFrom(...pathsIn(value));
      return fc.tuple(path, fc.constantFrom(...replacements)).map(([at, by]) => replaced(value, at, by));
    });
    fc.assert(
      fc.property(changed, (value) => {
        if (fits(value, workflowSchema)) expect({ value, isValid: validate(value) }).toEqual({ value, isValid: true });
      }),
      { numRuns: 2000 },
    );
  });
});
