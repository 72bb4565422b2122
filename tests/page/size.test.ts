import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const page = join(import.meta.dirname, '../../dist/page');
const index = readFileSync(join(page, 'index.html'), 'utf8');

/** Files of the page that this text names. */
function namedIn(text: string): readonly string[] {
  return [...text.matchAll(/[\w-]+-[\w-]{8}\.(?:js|css)\b/g)].map(([name]) => name);
}

function sizeOf(name: string): number {
  return readFileSync(join(page, 'assets', `${name}.gz`)).length;
}

test('the first load of the page takes at most 40 kB', () => {
  const files = namedIn(index);
  const size = files.reduce((sum, name) => sum + sizeOf(name), gzipSync(index).length);

  expect(files.map((name) => name.slice(name.lastIndexOf('.'))).sort()).toEqual(['.css', '.js']);
  expect(size).toBeGreaterThan(5000);
  expect(size).toBeLessThan(40_000);
});
