import { expect, test } from 'vitest';
import { besidePattern, watchPattern } from '../../../src/cli/watch/glob.ts';

test.each([
  ['src/*.ts', '/w/src/a.ts', true],
  ['src/*.ts', '/w/src/deep/a.ts', false],
  ['src/*.ts', '/w/src/a.tsx', false],
  ['src/**/*.ts', '/w/src/a.ts', true],
  ['src/**/*.ts', '/w/src/deep/er/a.ts', true],
  ['src/**', '/w/src/deep/a', true],
  ['src/**', '/w/srca', false],
  ['**/*.sql', '/w/a.sql', true],
  ['*.ts', '/w/.hidden.ts', false],
  ['.*.ts', '/w/.hidden.ts', true],
  ['**/*.ts', '/w/.git/a.ts', false],
  ['src', '/w/src/deep/a', true],
  ['src', '/w/src', true],
  ['src', '/w/srca', false],
  ['a?c', '/w/abc', true],
  ['a?c', '/w/a/c', false],
  ['[a-c].x', '/w/b.x', true],
  ['[!a-c].x', '/w/b.x', false],
  ['*.{ts,js}', '/w/a.js', true],
  ['*.{ts,js}', '/w/a.css', false],
  ['{a,b}/*.ts', '/w/b/x.ts', true],
  ['a+(b)*', '/w/a+(b)c', true],
  ['/etc/*.conf', '/etc/a.conf', true],
  ['../x/*', '/x/a', true],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(watchPattern(pattern, '/w').matches(path)).toBe(expected);
});

test.each([
  ['src/**/*.ts', '/w/src', true],
  ['src/*.ts', '/w/src', false],
  ['*/x', '/w', true],
  ['src', '/w/src', true],
  ['/*', '/', false],
])('%s is looked for in %s', (pattern, directory, isDeep) => {
  expect(watchPattern(pattern, '/w')).toMatchObject({ directory, isDeep });
});

test('the files beside a file', () => {
  const { matches } = besidePattern('/w/a.yaml', ['.yaml', '.yml']);
  expect(['/w/b.yml', '/w/b.ts', '/w/x/b.yml', '/b.yml'].map(matches)).toEqual([true, false, false, false]);
});
