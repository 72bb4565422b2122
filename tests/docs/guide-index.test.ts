import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const guide = resolve(import.meta.dirname, '../../docs/guide');
const index = readFileSync(join(guide, 'README.md'), 'utf8');

test('the index of the guide names every page once', () => {
  const named = [...index.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, file]) => file);
  const pages = readdirSync(guide).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect(named.toSorted()).toEqual(pages.toSorted());
});
