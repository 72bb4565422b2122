import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { documentationOf } from '#language/schema/schema-doc.ts';
import { canonicalKey } from '#language/schema/schema-type.ts';

const fixtures = resolve(import.meta.dirname, '../../fixtures');

it.each([
  ['', (file: File) => [file]],
  ['steps', (file: File) => file.steps ?? []],
])('every key of "%s" is used by an example', (path, maps) => {
  const used = new Set(
    examples()
      .flatMap(maps)
      .flatMap((map) => Object.keys(map).map(canonicalKey)),
  );
  const keys = (documentationOf(path)?.keys ?? []).map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key) => !used.has(canonicalKey(key)))).toEqual([]);
});

type File = { readonly steps?: readonly object[] };

/** The workflows that a test runs; steps given as a map are left out. */
function examples(): readonly File[] {
  return ['workflows', 'services'].flatMap((folder) =>
    readdirSync(join(fixtures, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => parse(readFileSync(join(fixtures, folder, name), 'utf8'), { logLevel: 'silent' }))
      .filter((file) => Array.isArray(file?.steps)),
  );
}
