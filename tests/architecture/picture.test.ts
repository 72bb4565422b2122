import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const picture = readFileSync(join(root, 'docs/architecture.svg'), 'utf8');

/** The folders of each band of the picture, from the top. */
const bands = picture
  .split('<g class="band">')
  .slice(1)
  .map((band) => [...band.matchAll(/class="name"[^>]*>([^<]*)</g)].map(([, name = '']) => name));
const folders = readdirSync(join(root, 'src'));

/** Pairs that the text of the picture names. */
const beside = ['render run-view', 'run-view render'];

test('the picture of the architecture has each folder of src once, and nothing else', () => {
  expect(bands.flat().toSorted()).toEqual(folders.toSorted());
});

test('values are imported from the bands below only', () => {
  const upward = folders.flatMap((folder) =>
    importsOf(folder)
      .filter((other) => bandOf(other) <= bandOf(folder) && !beside.includes(`${folder} ${other}`))
      .map((other) => `${folder} ${other}`),
  );
  expect(upward).toEqual([]);
  expect(folders.flatMap(importsOf).length).toBeGreaterThan(80);
});

test('of a text, imports of values are found and those of types are not', () => {
  const text = [
    "import { a } from '#core/a.ts';",
    'import {',
    '  type B,',
    "} from '#store/b.ts';",
    "import type { C } from '#page/c.ts';",
    "const d = import('#mail/d.ts');",
    "export { e } from '#cli/e.ts';",
  ].join('\n');
  expect(valueImports(text)).toEqual(['core', 'store', 'mail', 'cli']);
});

function bandOf(folder: string): number {
  return bands.findIndex((band) => band.includes(folder));
}

function importsOf(folder: string): readonly string[] {
  const found = readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.m?tsx?$/.test(file) && !file.includes('generated'))
    .flatMap((file) => valueImports(readFileSync(join(root, 'src', folder, file), 'utf8')));
  return [...new Set(found)].filter((other) => other !== folder);
}

/** The folders of `src` from which a text imports values. */
function valueImports(text: string): readonly string[] {
  const pattern = /(?:^(?:import|export)(?! type\b)[^;']*?from|^import|import\()\s*'#([\w-]+)\//gm;
  return [...text.matchAll(pattern)].map(([, folder = '']) => folder);
}
