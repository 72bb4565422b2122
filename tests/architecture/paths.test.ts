import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test.each(['docs/architecture.md', 'CONTRIBUTING.md', 'docs/glossary.md'])('%s names only paths that exist', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const paths = [...text.matchAll(/`((?:src|tests|bin|docs|fixtures|scripts)\/[\w./-]*)`/g)].map(
    ([, path]) => path ?? '',
  );

  const missing = paths.filter((path) => !path.includes('NAME') && !existsSync(join(root, path)));
  expect(missing).toEqual([]);
  if (page === 'docs/architecture.md') expect(paths.length).toBeGreaterThan(40);
});
